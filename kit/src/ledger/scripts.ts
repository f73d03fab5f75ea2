/**
 * The ledger's steps in Lua. Redis runs one script at a time, so each is atomic; none of them writes before its last
 * check, because Redis does not take back what a failing script wrote. Wallet keys are made from a prefix, since those of
 * answered orders are known inside only: the ledger lives in one Redis, not in a cluster.
 */

/** A pending order is "wallet amount partition acceptedAtMs". */
const releaseFunction = `
local function release(pendingKey, waitingKey, walletPrefix, orderId, partition)
  local entry = redis.call('HGET', pendingKey, orderId)
  if not entry then
    redis.call('ZREM', waitingKey, orderId)
    return
  end
  local wallet, amount, own = string.match(entry, '^(%S+) (%d+) (%d+) %d+$')
  if own ~= partition then return end
  redis.call('HDEL', pendingKey, orderId)
  redis.call('ZREM', waitingKey, orderId)
  if amount ~= '0' then redis.call('HINCRBY', walletPrefix .. wallet, 'pending', '-' .. amount) end
end
`;

/** Whole numbers are exact up to here in Lua as in JavaScript. */
const checkFunction = `
local exactMax = 9007199254740991
local function isExact(value) return value <= exactMax and value >= -exactMax end
local function numberIn(key, field) return tonumber(redis.call('HGET', key, field) or '0') end
`;

/** KEYS state, pending, waiting, wallet. ARGV orderId, amount, acceptedAtMs, entry. */
export const reserveLua = `
local state = redis.call('HMGET', KEYS[1], 'ready', 'generation')
if state[1] ~= '1' then return {'not_ready', '0'} end
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return {'already', state[2]} end
local money = redis.call('HMGET', KEYS[4], 'free', 'pending')
local amount = tonumber(ARGV[2])
if amount > 0 and tonumber(money[1] or '0') - tonumber(money[2] or '0') < amount then
  return {'insufficient', state[2]}
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
if amount > 0 then redis.call('HINCRBY', KEYS[4], 'pending', ARGV[2]) end
return {'reserved', state[2]}
`;

/** KEYS as above, and transfers. A withdrawal that was applied is not held for again. */
export const reserveWithdrawalLua = `
if redis.call('SISMEMBER', KEYS[5], ARGV[1]) == 1 then return {'applied', '0'} end
${reserveLua}`;

/** KEYS pending, waiting. ARGV walletPrefix, lane, beforeMs, max. How many were released. */
export const releaseWithdrawalsLua = `${releaseFunction}
local orphans = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[3], 'LIMIT', 0, ARGV[4])
for _, id in ipairs(orphans) do release(KEYS[1], KEYS[2], ARGV[1], id, ARGV[2]) end
return #orphans
`;

/** KEYS pending, waiting. ARGV orderId, entry as read, walletPrefix, partition. 1 when it was there and is released. */
export const cancelLua = `${releaseFunction}
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
release(KEYS[1], KEYS[2], ARGV[3], ARGV[1], ARGV[4])
return 1
`;

/**
 * KEYS marks, pending, waiting. ARGV walletPrefix, field, partition, from, to, part, parts, orphansBeforeMs, orphansMax,
 * generation, clockMs, answers, then the answered ids, then (wallet, free, held) each. A piece in parts keeps "done/parts" beside the mark, so
 * that a part is never added twice and the mark moves with the last one.
 */
export const applyExecutionsLua = `${releaseFunction}${checkFunction}
local marks, pending, waiting = KEYS[1], KEYS[2], KEYS[3]
local walletPrefix, field, partition = ARGV[1], ARGV[2], ARGV[3]
local mark = redis.call('HGET', marks, field) or '0'
if tonumber(ARGV[5]) <= tonumber(mark) then return {'repeated', mark} end
if tonumber(ARGV[4]) ~= tonumber(mark) then return {'gap', mark} end
local part, parts = tonumber(ARGV[6]), ARGV[7]
local done, doneOf = 0, parts
local under = redis.call('HGET', marks, field .. ':part')
if under then done, doneOf = string.match(under, '^(%d+)/(%d+)$') end
done = tonumber(done)
if doneOf ~= parts or part > done then return {'gap', mark} end
if part < done then return {'repeated', mark} end

local firstMove = 13 + tonumber(ARGV[12])
for i = firstMove, #ARGV, 3 do
  local key = walletPrefix .. ARGV[i]
  if not isExact(numberIn(key, 'free') + tonumber(ARGV[i + 1])) then return {'overflow', mark} end
  if not isExact(numberIn(key, 'held') + tonumber(ARGV[i + 2])) then return {'overflow', mark} end
end

for i = firstMove, #ARGV, 3 do
  local key = walletPrefix .. ARGV[i]
  redis.call('HINCRBY', key, 'free', ARGV[i + 1])
  redis.call('HINCRBY', key, 'held', ARGV[i + 2])
end
for i = 13, firstMove - 1 do release(pending, waiting, walletPrefix, ARGV[i], partition) end
if part + 1 < tonumber(parts) then
  redis.call('HSET', marks, field .. ':part', (part + 1) .. '/' .. parts)
  return {'applied', mark}
end
local orphans = redis.call('ZRANGEBYSCORE', waiting, '-inf', '(' .. ARGV[8], 'LIMIT', 0, ARGV[9])
for _, orderId in ipairs(orphans) do release(pending, waiting, walletPrefix, orderId, partition) end
redis.call('HDEL', marks, field .. ':part')
if tonumber(ARGV[10]) > numberIn(marks, field .. ':generation') then
  redis.call('HSET', marks, field .. ':generation', ARGV[10])
end
redis.call('HSET', marks, field, ARGV[5], field .. ':clock', ARGV[11])
return {'applied', ARGV[5]}
`;

/**
 * KEYS marks, transfers, pending, waiting. ARGV walletPrefix, field, lane, from, to, then (transferId, wallet, amount,
 * generation) each. A fence is a transfer of nothing.
 */
export const applyTransfersLua = `${releaseFunction}${checkFunction}
local walletPrefix, field, lane = ARGV[1], ARGV[2], ARGV[3]
local mark = redis.call('HGET', KEYS[1], field) or '0'
if tonumber(ARGV[5]) <= tonumber(mark) then return {'repeated', mark} end
if tonumber(ARGV[4]) ~= tonumber(mark) then return {'gap', mark} end
local generation = numberIn(KEYS[1], field .. ':generation')
local seen, fresh, free = {}, {}, {}
for i = 6, #ARGV, 4 do
  local id, key, amount = ARGV[i], walletPrefix .. ARGV[i + 1], tonumber(ARGV[i + 2])
  local isVoid = amount < 0 and tonumber(ARGV[i + 3]) < generation
  if amount == 0 then
    generation = math.max(generation, tonumber(ARGV[i + 3]))
  elseif not isVoid and not seen[id] and redis.call('SISMEMBER', KEYS[2], id) == 0 then
    seen[id] = true
    free[key] = (free[key] or numberIn(key, 'free')) + amount
    if not isExact(free[key]) then return {'overflow', mark} end
    fresh[#fresh + 1] = i
  end
end
for _, i in ipairs(fresh) do
  redis.call('SADD', KEYS[2], ARGV[i])
  redis.call('HINCRBY', walletPrefix .. ARGV[i + 1], 'free', ARGV[i + 2])
end
for i = 6, #ARGV, 4 do release(KEYS[3], KEYS[4], walletPrefix, ARGV[i], lane) end
redis.call('HSET', KEYS[1], field, ARGV[5], field .. ':generation', generation)
return {'applied', ARGV[5]}
`;

/** KEYS state. */
export const closeLua = `
redis.call('HDEL', KEYS[1], 'plan', 'planned')
redis.call('HSET', KEYS[1], 'ready', 0)
return 1
`;

/** KEYS state. ARGV id, generation. The plan that holds; nothing when the ledger is open. */
export const planLua = `
if redis.call('HGET', KEYS[1], 'ready') == '1' then return {} end
if redis.call('HSETNX', KEYS[1], 'plan', ARGV[1]) == 1 then
  redis.call('HSET', KEYS[1], 'planned', ARGV[2])
end
return redis.call('HMGET', KEYS[1], 'plan', 'planned')
`;

/** KEYS state, marks. ARGV id, generation, life of the store, then the fields of marks that must have come so far. */
export const openLua = `
if redis.call('HGET', KEYS[1], 'plan') ~= ARGV[1] then return 0 end
for i = 4, #ARGV do
  local begun = tonumber(redis.call('HGET', KEYS[2], ARGV[i] .. ':generation') or '0')
  if begun < tonumber(ARGV[2]) then return 0 end
end
redis.call('HDEL', KEYS[1], 'plan', 'planned')
redis.call('HSET', KEYS[1], 'generation', ARGV[2], 'ready', 1, 'life', ARGV[3])
return 1
`;
