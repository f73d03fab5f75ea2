/**
 * Scripts that put an image of the ledger into Redis. `restore` in the state is who does it, `restoreMs` the time of
 * its last step: while it is there the applying scripts refuse, and who is overtaken writes nothing any more.
 */

/**
 * Times are those of the server, so that the clocks of processes decide nothing. A step in the future was made before
 * the clock of the server was set back: it counts by its distance, too.
 */
const nowFunction = `
local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function isAlive(stepMs, leaseMs) return math.abs(nowMs() - tonumber(stepMs)) < tonumber(leaseMs) end
`;

/** Whether the caller still is the one who restores. */
const ownsFunction = `${nowFunction}
local function owns(stateKey, id)
  if redis.call('HGET', stateKey, 'restore') ~= id then return false end
  redis.call('HSET', stateKey, 'restoreMs', string.format('%.0f', nowMs()))
  return true
end
`;

/** KEYS state. ARGV leaseMs. 1 while a process restores that has made a step within the lease. */
export const busyRestoreLua = `${nowFunction}
local under = redis.call('HMGET', KEYS[1], 'restore', 'restoreMs')
return under[1] and isAlive(under[2], ARGV[1]) and 1 or 0
`;

/**
 * KEYS state, marks. ARGV id, leaseMs, field, mark. Begins when the mark is still what the caller has seen, and
 * no other restore has lived within the lease. The ledger is closed and has no marks from here on.
 */
export const beginRestoreLua = `${nowFunction}
local under = redis.call('HMGET', KEYS[1], 'restore', 'restoreMs')
if under[1] then
  if isAlive(under[2], ARGV[2]) then return 'busy' end
elseif (redis.call('HGET', KEYS[2], ARGV[3]) or '0') ~= ARGV[4] then
  return 'moved'
end
redis.call('HDEL', KEYS[1], 'plan', 'planned', 'life')
redis.call('HSET', KEYS[1], 'ready', 0, 'restore', ARGV[1], 'restoreMs', string.format('%.0f', nowMs()))
redis.call('DEL', KEYS[2])
return 'begun'
`;

/** KEYS state. ARGV id, then keys of the ledger to remove. 0 when another one restores. */
export const clearRestoreLua = `${ownsFunction}
if not owns(KEYS[1], ARGV[1]) then return 0 end
for i = 2, #ARGV do
  if ARGV[i] ~= KEYS[1] then redis.call('UNLINK', ARGV[i]) end
end
return 1
`;

/**
 * KEYS state, transfers, markets, breaches, insolvent. ARGV id, walletPrefix, then (kind, name, first, second) each. 0
 * when another one restores.
 */
export const writeRestoreLua = `${ownsFunction}
if not owns(KEYS[1], ARGV[1]) then return 0 end
for i = 3, #ARGV, 4 do
  local kind, name, first = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if kind == 'wallet' then
    redis.call('HSET', ARGV[2] .. name, 'free', first, 'held', ARGV[i + 3])
    if tonumber(first) < 0 then redis.call('SADD', KEYS[5] .. ':closed', name) end
  elseif kind == 'transfer' then
    redis.call('HSET', KEYS[2], name, first)
  elseif kind == 'market' then
    redis.call('HSET', KEYS[3], name, first)
  else
    redis.call('HSET', KEYS[4], name, first)
  end
end
return 1
`;

/** KEYS state, marks. ARGV id, then (field, value) of the marks each: the last step. */
export const endRestoreLua = `${ownsFunction}
if not owns(KEYS[1], ARGV[1]) then return 0 end
for i = 2, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
redis.call('HDEL', KEYS[1], 'restore', 'restoreMs')
return 1
`;
