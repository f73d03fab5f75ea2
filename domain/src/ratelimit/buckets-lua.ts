import { expiringBytesLua } from '../cache/expiring-bytes-lua.ts';

/** Bytes that are counted for the hash of a caller beside its name, for each of its fields, and windows of theirs. */
export const callerBytes = 256;
export const fieldBytes = 64;
const bytesWindowMs = 60_000;

/** The field with the window in which a hash expires, and its bytes. No rule has this name. */
const bytesField = '=';

/**
 * Keys: one hash per request, then for each of them the bytes of its kind of caller. Arguments: per request how long
 * its hash is kept, milliseconds, the largest bytes of its kind, and the number of its wants, and per want: field,
 * window in milliseconds, limit, need, more. A request gets all its needs or nothing. The result is flat: the server's
 * time, then granted and remaining units, want by want; -1 units when there is no room to count them.
 */
export const takeLua = `${expiringBytesLua}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answer = { now }
local requests = #KEYS / 2
local function hasRoom(request, kept, bytesMax, meta, grown)
  local bytesKey = KEYS[requests + request]
  local window, bytes = string.match(meta or '', '^(%d+) (%d+)$')
  if grown > 0 and bytesAt(bytesKey, now, ${bytesWindowMs}) + grown > bytesMax then return false end
  local next = windowOf(now + kept, ${bytesWindowMs})
  if grown == 0 and window == next then return true end
  local all = (bytes or 0) + grown
  if window then addBytes(bytesKey, window, -bytes) end
  addBytes(bytesKey, next, all)
  redis.call('PEXPIRE', bytesKey, kept + ${bytesWindowMs})
  redis.call('HSET', KEYS[request], '${bytesField}', next .. ' ' .. string.format('%.0f', all))
  return true
end
local at = 1
for request = 1, requests do
  local kept = tonumber(ARGV[at])
  local bytesMax = tonumber(ARGV[at + 1])
  local count = tonumber(ARGV[at + 2])
  local first = at + 3
  at = first + count * 5
  local fields = {}
  for want = 1, count do fields[want] = ARGV[first + (want - 1) * 5] end
  fields[count + 1] = '${bytesField}'
  local stored = redis.call('HMGET', KEYS[request], unpack(fields))
  local windows, used = {}, {}
  local passes = true
  local grown = stored[count + 1] and 0 or ${callerBytes} + #KEYS[request]
  for want = 1, count do
    local from = first + (want - 1) * 5
    windows[want] = math.floor(now / tonumber(ARGV[from + 1]))
    used[want] = 0
    if stored[want] then
      local window, units = string.match(stored[want], '^(%d+) (%d+)$')
      if tonumber(window) == windows[want] then used[want] = tonumber(units) end
    else
      grown = grown + ${fieldBytes}
    end
    if used[want] + tonumber(ARGV[from + 3]) > tonumber(ARGV[from + 2]) then passes = false end
  end
  local isCounted = not passes or count == 0 or hasRoom(request, kept, bytesMax, stored[count + 1], grown)
  local changes = {}
  for want = 1, count do
    local from = first + (want - 1) * 5
    local left = math.max(0, tonumber(ARGV[from + 2]) - used[want])
    local granted = 0
    if passes and isCounted then
      granted = math.min(left, tonumber(ARGV[from + 3]) + tonumber(ARGV[from + 4]))
      changes[#changes + 1] = fields[want]
      changes[#changes + 1] = string.format('%.0f %.0f', windows[want], used[want] + granted)
    end
    answer[#answer + 1] = isCounted and granted or -1
    answer[#answer + 1] = left - granted
  end
  if #changes > 0 then
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
