/**
 * A function of Lua: whether a key that was set with a lease as its time to live is a lease that is held. Its last step
 * counts by its distance, less than a lease in the past or in the future: with the clock of the server set back, the
 * time to live that is left is longer by as much. A missing key and one without an end are none.
 */
export const leaseLua = `
local function isHeld(key, leaseMs)
  local leftMs = redis.call('PTTL', key)
  return leftMs > 0 and leftMs < 2 * leaseMs
end
`;
