import { bookFields } from '@pm/schemas/redis/keys';

/** Lua scripts on the books in Redis. Those with a claim return 0 and change nothing when it is not valid any more. */

/** KEYS marks. ARGV partition, field of the fold, name of the fold. */
export const claimLua = `
local mark = redis.call('HGET', KEYS[1], ARGV[1])
if not mark then redis.call('HSET', KEYS[1], ARGV[2], ARGV[3]) end
return mark
`;

/** KEYS[1] marks. ARGV[1], ARGV[2] the field of the claim and its value as long as the claim is valid. */
const unlessClaimed = "if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end";

/** KEYS marks, token 0, token 1. ARGV claim, market field, liquidity, version, cells of token 0, cells of token 1. */
export const writeLua = `
${unlessClaimed}
local names = {${bookFields.map((name) => `'${name}'`).join(',')}}
local version = tonumber(ARGV[5])
local isThere = true
for token = 2, 3 do
  local stored = tonumber(redis.call('HGET', KEYS[token], 'version') or -1)
  if stored > version then return 1 end
  if stored < version or redis.call('HLEN', KEYS[token]) < #names then isThere = false end
end
if isThere then return 1 end
for token = 1, 2 do
  local cells = {}
  for i, name in ipairs(names) do
    cells[2 * i - 1] = name
    cells[2 * i] = ARGV[5 + (token - 1) * #names + i]
  end
  redis.call('HSET', KEYS[token + 1], unpack(cells))
end
redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])
return 1
`;

/** KEYS marks. ARGV claim, partition, to, field of the clock, clock. */
export const moveLua = `
${unlessClaimed}
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
return 1
`;

/** KEYS marks. ARGV claim. */
export const forgetLua = `
${unlessClaimed}
return redis.call('HDEL', KEYS[1], ARGV[1])
`;
