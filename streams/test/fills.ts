import type { Fill } from '@pm/schemas/log/executions';

/** A taker of token 0 buys 2 shares at 0.4. Its wallet is number 1 of the fixtures, the maker's number 2. */
export function fillOf(changes: Partial<Fill> = {}): Fill {
  const none = Buffer.alloc(32);
  return {
    kind: 'Fill',
    command: 0,
    market: 1,
    match: 'COMPLEMENTARY',
    sizeMicro: 2_000_000,
    takerOrderId: Buffer.alloc(32, 1),
    taker: walletBytes(1),
    takerKey: keyBytes(1),
    takerOutcome: 0,
    takerSide: 'BUY',
    takerPrice: 4_000,
    takerBuilder: none,
    makerOrderId: Buffer.alloc(32, 2),
    maker: walletBytes(2),
    makerKey: keyBytes(2),
    makerOutcome: 0,
    makerSide: 'SELL',
    makerPrice: 4_000,
    makerBuilder: none,
    makerRestMicro: 0,
    feeMicro: 10,
    feeRateBps: 441,
    ...changes,
  };
}

export const walletBytes = (index: number): Buffer =>
  Buffer.from(index.toString(16).padStart(40, '0'), 'hex');

/** The bytes of `apiKey` of the fixtures. */
export const keyBytes = (index: number): Buffer =>
  Buffer.from(`0000000000004000800000000000${index.toString(16).padStart(4, '0')}`, 'hex');
