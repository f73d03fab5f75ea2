/**
 * Functions of Lua for leases. Times are those of the server, so that the clocks of processes decide nothing. A step in
 * the future was made before the clock of the server was set back: it counts by its distance, too. The last step of a
 * key that is set with an end in time was a lease before that end.
 */
export const leaseLua = `
local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function isAlive(stepMs, leaseMs) return math.abs(nowMs() - tonumber(stepMs)) < tonumber(leaseMs) end
`;
