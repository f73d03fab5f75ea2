/**
 * Functions of Lua that bound the bytes of keys which expire. A hash has the bytes by the window of time in which their
 * keys expire, so a key that has gone counts until its window is over, and no counter has to learn of its end. Windows
 * are a few in number: as many as are begun in the life of a key.
 */
export const expiringBytesLua = `
local function windowOf(at, windowMs) return string.format('%.0f', math.floor(at / windowMs)) end
local function bytesAt(key, now, windowMs)
  local first = math.floor(now / windowMs)
  local windows = redis.call('HGETALL', key)
  local sum = 0
  for at = 1, #windows, 2 do
    if tonumber(windows[at]) < first then redis.call('HDEL', key, windows[at])
    else sum = sum + tonumber(windows[at + 1]) end
  end
  return sum
end
local function addBytes(key, window, bytes)
  redis.call('HINCRBY', key, window, string.format('%.0f', bytes))
end
`;
