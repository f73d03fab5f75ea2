/**
 * Keys: one hash per request. Arguments: per request how long its hash is kept, milliseconds, and the number of its
 * wants, and per want: field, window in milliseconds, limit, need, more. A request gets all its needs or nothing. The
 * result is flat: the server's time, then granted and remaining units, want by want.
 */
export const takeLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answer = { now }
local at = 1
for request = 1, #KEYS do
  local kept = ARGV[at]
  local count = tonumber(ARGV[at + 1])
  local first = at + 2
  at = first + count * 5
  local fields = {}
  for want = 1, count do fields[want] = ARGV[first + (want - 1) * 5] end
  local stored = redis.call('HMGET', KEYS[request], unpack(fields))
  local windows, used = {}, {}
  local passes = true
  for want = 1, count do
    local from = first + (want - 1) * 5
    windows[want] = math.floor(now / tonumber(ARGV[from + 1]))
    used[want] = 0
    if stored[want] then
      local window, units = string.match(stored[want], '^(%d+) (%d+)$')
      if tonumber(window) == windows[want] then used[want] = tonumber(units) end
    end
    if used[want] + tonumber(ARGV[from + 3]) > tonumber(ARGV[from + 2]) then passes = false end
  end
  local changes = {}
  for want = 1, count do
    local from = first + (want - 1) * 5
    local left = math.max(0, tonumber(ARGV[from + 2]) - used[want])
    local granted = 0
    if passes then
      granted = math.min(left, tonumber(ARGV[from + 3]) + tonumber(ARGV[from + 4]))
      changes[#changes + 1] = fields[want]
      changes[#changes + 1] = string.format('%.0f %.0f', windows[want], used[want] + granted)
    end
    answer[#answer + 1] = granted
    answer[#answer + 1] = left - granted
  end
  if passes then
    redis.call('HSET', KEYS[request], unpack(changes))
    redis.call('PEXPIRE', KEYS[request], kept)
  end
end
return answer`;

/** The server's time and the fields of one hash with their values. */
export const usedLua = `
local time = redis.call('TIME')
local answer = redis.call('HGETALL', KEYS[1])
table.insert(answer, 1, time[1] * 1000 + math.floor(time[2] / 1000))
return answer`;
