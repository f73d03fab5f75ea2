/**
 * The ledger's steps in Lua. Redis runs one script at a time, so each is atomic; none of them writes before its last
 * check, because Redis does not undo the writes of a failing script. Wallet keys are made from a prefix, since those of
 * answered orders are known inside only: the ledger lives in one Redis, not in a cluster.
 */

/**
 * A pending reservation is "amount acceptedAtMs answers senders wallet partition kind market": senders by commas,
 * each a record in flight; `answers` counts their results on the log, which do not name the sender. The last four are
 * the purpose of the reservation.
 */
const pendingFunctions = `
local function readHeld(pendingKey, id)
  local entry = redis.call('HGET', pendingKey, id)
  if not entry then return nil end
  local held = {id = id}
  held.amount, held.acceptedAtMs, held.answers, held.senders, held.purpose =
    string.match(entry, '^(%d+) (%d+) (%d+) (%S+) (.+)$')
  held.wallet, held.partition = string.match(held.purpose, '^(%S+) (%d+)')
  return held
end
local function writeHeld(pendingKey, held)
  redis.call('HSET', pendingKey, held.id, table.concat(
    {held.amount, held.acceptedAtMs, held.answers, held.senders, held.purpose}, ' '))
end
local function senderCount(held)
  local _, count = string.gsub(held.senders, '[^,]+', '')
  return count
end
local function release(pendingKey, waitingKey, walletPrefix, held)
  redis.call('HDEL', pendingKey, held.id)
  redis.call('ZREM', waitingKey, held.id)
  if held.amount ~= '0' then
    redis.call('HINCRBY', walletPrefix .. held.wallet, 'pending', '-' .. held.amount)
  end
end
local function releaseIfAnswered(pendingKey, waitingKey, walletPrefix, held)
  if tonumber(held.answers) >= senderCount(held) then
    release(pendingKey, waitingKey, walletPrefix, held)
  else
    writeHeld(pendingKey, held)
  end
end
local function releaseOrphans(pendingKey, waitingKey, walletPrefix, beforeMs, max)
  local orphans = redis.call('ZRANGEBYSCORE', waitingKey, '-inf', '(' .. beforeMs, 'LIMIT', 0, max)
  for _, id in ipairs(orphans) do
    local held = readHeld(pendingKey, id)
    if held then
      release(pendingKey, waitingKey, walletPrefix, held)
    else
      redis.call('ZREM', waitingKey, id)
    end
  end
  return #orphans
end
`;

/** Nothing is applied while an image is written (restore-lua.ts). Whole numbers are exact in Lua as in JavaScript. */
const checkFunction = `
local function isRestoring(stateKey) return redis.call('HEXISTS', stateKey, 'restore') == 1 end
local exactMax = 9007199254740991
local function isExact(value) return value <= exactMax and value >= -exactMax end
local function numberIn(key, field) return tonumber(redis.call('HGET', key, field) or '0') end
`;

/**
 * Wallets with free money below zero are listed for the solvency check. An open ledger keeps them until they are
 * acknowledged. A closed ledger passes through such balances, so it keeps a list of its own, from which a wallet is
 * removed with a positive balance; those left when it opens count. One that came back from an earlier moment is closed
 * in this respect before that is noticed.
 */
const moveFreeFunction = `
local function moveFree(insolventKey, walletPrefix, wallet, amount, isReady)
  local free = redis.call('HINCRBY', walletPrefix .. wallet, 'free', amount)
  if isReady then
    if free < 0 then redis.call('SADD', insolventKey, wallet) end
  elseif free < 0 then
    redis.call('SADD', insolventKey .. ':closed', wallet)
  else
    redis.call('SREM', insolventKey .. ':closed', wallet)
  end
end
`;

/**
 * Tokens of a market and the USDC locked for them: "token0 token1 locked payout0 gap0 gap1", payout0 "-" before the
 * resolution. Both tokens are as many as the USDC, and after the resolution their payouts are; a gap is what is there
 * too much. A gap that changes is listed for the solvency check with its place and the wallets that may have caused it.
 */
const moveMarketFunction = `
local function text(value) return string.format('%.0f', value) end
local function moveMarket(marketsKey, breachesKey, place, market, change)
  local entry = redis.call('HGET', marketsKey, market) or '0 0 0 - 0 0'
  local sum0, sum1, locked, payout0, known0, known1 =
    string.match(entry, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  sum0, sum1, locked = sum0 + change[1], sum1 + change[2], locked + change[3]
  if change[4] ~= '' then payout0 = change[4] end
  local gap0, gap1 = sum0 - locked, sum1 - locked
  if payout0 ~= '-' then
    gap0 = payout0 * (sum0 / 10000) + (10000 - payout0) * (sum1 / 10000) - locked
    gap1 = 0
  end
  gap0, gap1 = text(gap0), text(gap1)
  if gap0 == '-0' then gap0 = '0' end
  if gap1 == '-0' then gap1 = '0' end
  redis.call('HSET', marketsKey, market,
    table.concat({text(sum0), text(sum1), text(locked), payout0, gap0, gap1}, ' '))
  if (gap0 ~= '0' or gap1 ~= '0') and (gap0 ~= known0 or gap1 ~= known1) then
    redis.call('HSET', breachesKey, market, table.concat({gap0, gap1, place, change[5]}, ' '))
  end
end
`;

/**
 * The life of a server as primary: a start of the server and each promotion of a replica begin another one, with
 * another run id or replication id (redis.io, "Replication ID explained"). One that comes back, or takes over, may lack
 * its last writes. The replication id also changes without a loss, when the first replica connects. Nil where it is
 * not known.
 */
const lifeFunction = `
local function life()
  local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
  local replication = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
  return run and (run .. (replication or ''))
end
`;

/**
 * Whether the ledger is open in this life of Redis; in another one its reservations prove nothing until it is closed
 * and opened again. The second value is the generation.
 */
const isSoundFunction = `${lifeFunction}
local function isSound(stateKey)
  local state = redis.call('HMGET', stateKey, 'ready', 'life', 'generation')
  return state[1] == '1' and state[2] == life(), state[3]
end
`;

/** The part of both scripts that reserve which follows their checks of the ledger; returns the outcome. */
const reserveFunction = `
local function reserve()
  local held = readHeld(KEYS[2], ARGV[1])
  if held then
    local isAmount = held.amount == ARGV[2] or held.amount == '0' or ARGV[2] == '0'
    if held.purpose ~= ARGV[4] or not isAmount then return 'conflict' end
    -- A command that the client library sends again after a lost connection is the same sender.
    if string.find(',' .. held.senders .. ',', ',' .. ARGV[5] .. ',', 1, true) then return 'already' end
    if senderCount(held) >= tonumber(ARGV[6]) then return 'busy' end
  end
  local outcome = 'already'
  if not held or (held.amount == '0' and ARGV[2] ~= '0') then
    local money = redis.call('HMGET', KEYS[4], 'free', 'pending')
    local amount = tonumber(ARGV[2])
    if amount > 0 and tonumber(money[1] or '0') - tonumber(money[2] or '0') < amount then return 'insufficient' end
    if amount > 0 then redis.call('HINCRBY', KEYS[4], 'pending', ARGV[2]) end
    outcome = 'reserved'
  end
  if not held then
    held = {id = ARGV[1], amount = ARGV[2], acceptedAtMs = ARGV[3], answers = '0', senders = ARGV[5], purpose = ARGV[4]}
  else
    held.senders = held.senders .. ',' .. ARGV[5]
    if outcome == 'reserved' then held.amount = ARGV[2] end
    if tonumber(ARGV[3]) > tonumber(held.acceptedAtMs) then held.acceptedAtMs = ARGV[3] end
  end
  writeHeld(KEYS[2], held)
  redis.call('ZADD', KEYS[3], held.acceptedAtMs, held.id)
  return outcome
end
`;

/**
 * KEYS state, pending, waiting, wallet. ARGV id, amount, acceptedAtMs, purpose (last four of an entry), sender,
 * sendersMax, key of the marks (only read, so no right to write it is needed), field of the mark. A ledger that came
 * back from an earlier moment does not know the reservations after it: it is not ready. With the outcome comes the mark
 * of the partition, which says what the outcome knows.
 */
export const reserveLua = `${isSoundFunction}${pendingFunctions}${reserveFunction}
local isReady, generation = isSound(KEYS[1])
if not isReady then return {'not_ready', '0', '0'} end
return {reserve(), generation, redis.call('HGET', ARGV[7], ARGV[8]) or '0'}
`;

/**
 * KEYS state, pending, waiting, wallet, transfers, insolvent, breaches. ARGV as above up to sendersMax, and the wallet.
 * An applied transfer is not reserved again: its entry is returned. Nothing new is reserved while the solvency check
 * has a finding that may concern it; what is pending may be on the log by now, and a further sender is no new money.
 */
export const reserveWithdrawalLua = `${isSoundFunction}${pendingFunctions}${reserveFunction}
local applied = redis.call('HGET', KEYS[5], ARGV[1])
if applied then return {'applied', '0', applied} end
local isReady, generation = isSound(KEYS[1])
if not isReady then return {'not_ready', '0'} end
local hasFinding = redis.call('SISMEMBER', KEYS[6], ARGV[7]) == 1 or redis.call('EXISTS', KEYS[7]) == 1
if hasFinding and not readHeld(KEYS[2], ARGV[1]) then return {'frozen', '0'} end
return {reserve(), generation}
`;

/** KEYS pending, waiting. ARGV walletPrefix, beforeMs, max. How many were released. */
export const releaseWithdrawalsLua = `${pendingFunctions}
return releaseOrphans(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])
`;

/** KEYS pending, waiting. ARGV id, sender, walletPrefix, partition. 1 when the sender existed and was removed. */
export const cancelLua = `${pendingFunctions}
local held = readHeld(KEYS[1], ARGV[1])
if not held or held.partition ~= ARGV[4] then return 0 end
local kept = {}
for sender in string.gmatch(held.senders, '[^,]+') do
  if sender ~= ARGV[2] then kept[#kept + 1] = sender end
end
if #kept == senderCount(held) then return 0 end
held.senders = table.concat(kept, ',')
releaseIfAnswered(KEYS[1], KEYS[2], ARGV[3], held)
return 1
`;

/**
 * KEYS marks, pending, waiting, state, insolvent, markets, breaches. ARGV walletPrefix, field, partition, from, to,
 * part, parts, orphansBeforeMs, orphansMax, generation, clockMs, answers, markets, then the answered ids, then (market,
 * token0, token1, locked, payout0, wallets) each, then (wallet, free, held) each. A piece in parts keeps "done/parts"
 * beside the mark, so that a part is never added twice and the mark moves with the last one.
 */
export const applyExecutionsLua = `${pendingFunctions}${checkFunction}${moveFreeFunction}${moveMarketFunction}
${isSoundFunction}
local marks, pending, waiting = KEYS[1], KEYS[2], KEYS[3]
if isRestoring(KEYS[4]) then return {'restoring', '0'} end
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

local firstMarket = 14 + tonumber(ARGV[12])
local firstMove = firstMarket + 6 * tonumber(ARGV[13])
for i = firstMove, #ARGV, 3 do
  local key = walletPrefix .. ARGV[i]
  if not isExact(numberIn(key, 'free') + tonumber(ARGV[i + 1])) then return {'overflow', mark} end
  if not isExact(numberIn(key, 'held') + tonumber(ARGV[i + 2])) then return {'overflow', mark} end
end

local isReady = isSound(KEYS[4])
for i = firstMove, #ARGV, 3 do
  moveFree(KEYS[5], walletPrefix, ARGV[i], ARGV[i + 1], isReady)
  redis.call('HINCRBY', walletPrefix .. ARGV[i], 'held', ARGV[i + 2])
end
for i = firstMarket, firstMove - 1, 6 do
  local change = {ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5]}
  moveMarket(KEYS[6], KEYS[7], partition .. ':' .. ARGV[5], ARGV[i], change)
end
for i = 14, firstMarket - 1 do
  local held = readHeld(pending, ARGV[i])
  if held and held.partition == partition then
    held.answers = tonumber(held.answers) + 1
    releaseIfAnswered(pending, waiting, walletPrefix, held)
  end
end
if part + 1 < tonumber(parts) then
  redis.call('HSET', marks, field .. ':part', (part + 1) .. '/' .. parts)
  return {'applied', mark}
end
releaseOrphans(pending, waiting, walletPrefix, ARGV[8], ARGV[9])
redis.call('HDEL', marks, field .. ':part')
if tonumber(ARGV[10]) > numberIn(marks, field .. ':generation') then
  redis.call('HSET', marks, field .. ':generation', ARGV[10])
end
redis.call('HSET', marks, field, ARGV[5], field .. ':clock', ARGV[11])
return {'applied', ARGV[5]}
`;

/**
 * KEYS marks, transfers, pending, waiting, state, insolvent. ARGV walletPrefix, field, from, to, lateMs, then
 * (transferId, wallet, amount, generation, timeMs) each. A fence is a transfer of nothing. After outcome and mark the
 * answer has (transferId, wallet, amount, moved) of each withdrawal that was not paid in full; `moved` is "void" of
 * one that is void.
 */
export const applyTransfersLua = `${pendingFunctions}${checkFunction}${moveFreeFunction}${isSoundFunction}
local walletPrefix, field = ARGV[1], ARGV[2]
if isRestoring(KEYS[5]) then return {'restoring', '0'} end
local mark = redis.call('HGET', KEYS[1], field) or '0'
if tonumber(ARGV[4]) <= tonumber(mark) then return {'repeated', mark} end
if tonumber(ARGV[3]) ~= tonumber(mark) then return {'gap', mark} end
local generation = numberIn(KEYS[1], field .. ':generation')
local fenceMs = numberIn(KEYS[1], field .. ':fence')
local isReady = isSound(KEYS[5])
local answer, valid, seen, fresh, free = {'applied', ARGV[4]}, {}, {}, {}, {}
local function movedBy(id, wallet, amount, before)
  if amount >= 0 or not isReady then return amount end
  local held = readHeld(KEYS[3], id)
  local isOwn = held and held.wallet == wallet and string.match(held.purpose, ' withdrawal %d+$')
  return 0 - math.min(-amount, isOwn and tonumber(held.amount) or 0, math.max(0, before))
end
for i = 6, #ARGV, 5 do
  local id, wallet, amount = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])
  local own, timeMs = tonumber(ARGV[i + 3]), tonumber(ARGV[i + 4])
  local isVoid = amount < 0 and (own < generation or timeMs < fenceMs - tonumber(ARGV[5]))
  if amount == 0 and own > 0 then
    generation = math.max(generation, own)
  elseif amount == 0 then
    fenceMs = math.max(fenceMs, timeMs)
  elseif isVoid then
    for _, text in ipairs({id, wallet, ARGV[i + 2], 'void'}) do answer[#answer + 1] = text end
  else
    valid[#valid + 1] = id
    if not seen[id] and redis.call('HEXISTS', KEYS[2], id) == 0 then
      seen[id] = true
      local before = free[wallet] or numberIn(walletPrefix .. wallet, 'free')
      local moved = movedBy(id, wallet, amount, before)
      free[wallet] = before + moved
      if not isExact(free[wallet]) then return {'overflow', mark} end
      fresh[#fresh + 1] = {id = id, wallet = wallet, amount = ARGV[i + 2], moved = string.format('%.0f', moved)}
    end
  end
end
for _, one in ipairs(fresh) do
  redis.call('HSET', KEYS[2], one.id, one.wallet .. ' ' .. one.amount .. ' ' .. one.moved)
  moveFree(KEYS[6], walletPrefix, one.wallet, one.moved, isReady)
  if one.moved ~= one.amount then
    for _, text in ipairs({one.id, one.wallet, one.amount, one.moved}) do answer[#answer + 1] = text end
  end
end
for _, id in ipairs(valid) do
  local held = readHeld(KEYS[3], id)
  if held and string.match(held.purpose, ' withdrawal %d+$') then
    release(KEYS[3], KEYS[4], walletPrefix, held)
  end
end
redis.call('HSET', KEYS[1], field, ARGV[4], field .. ':generation', generation,
  field .. ':fence', string.format('%.0f', fenceMs))
return answer
`;

/** KEYS state, insolvent. ARGV max. Wallets below zero while the ledger is open. */
export const insolventLua = `
if redis.call('HGET', KEYS[1], 'ready') ~= '1' then return {} end
return redis.call('SRANDMEMBER', KEYS[2], ARGV[1])
`;

/** KEYS breaches. ARGV market, entry. Removes the entry unless it has changed. */
export const acknowledgeBreachLua = `
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
`;

/** KEYS state. */
export const closeLua = `
redis.call('HDEL', KEYS[1], 'plan', 'planned')
redis.call('HSET', KEYS[1], 'ready', 0)
return 1
`;

/** KEYS state. ARGV id, generation. The current plan; empty when the ledger is open. */
export const planLua = `
if redis.call('HGET', KEYS[1], 'ready') == '1' then return {} end
if redis.call('HSETNX', KEYS[1], 'plan', ARGV[1]) == 1 then
  redis.call('HSET', KEYS[1], 'planned', ARGV[2])
end
return redis.call('HMGET', KEYS[1], 'plan', 'planned')
`;

/** KEYS state. 1 unless it was opened in this life of Redis. */
export const isOfEarlierLifeLua = `${lifeFunction}
return redis.call('HGET', KEYS[1], 'life') == life() and 0 or 1
`;

/**
 * KEYS state, marks, insolvent. ARGV id, generation, then the fields of marks whose generation must have begun. The
 * life is the one of the server that opens it.
 */
export const openLua = `${lifeFunction}
if redis.call('HGET', KEYS[1], 'plan') ~= ARGV[1] then return 0 end
for i = 3, #ARGV do
  local begun = tonumber(redis.call('HGET', KEYS[2], ARGV[i] .. ':generation') or '0')
  if begun < tonumber(ARGV[2]) then return 0 end
end
local current = life() or ''
redis.call('HDEL', KEYS[1], 'plan', 'planned')
redis.call('HSET', KEYS[1], 'generation', ARGV[2], 'ready', 1, 'life', current)
redis.call('SUNIONSTORE', KEYS[3], KEYS[3], KEYS[3] .. ':closed')
redis.call('DEL', KEYS[3] .. ':closed')
return 1
`;
