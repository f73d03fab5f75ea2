import type { AvroEnum, AvroFixed } from '../avro/schema.ts';
import { refusalCodes } from '../refusals.ts';

/** Named Avro types that several records share. */
const fixed = <const Name extends string>(name: Name, size: number, doc: string) =>
  ({ type: 'fixed', name, size, doc }) as const satisfies AvroFixed;

export const hash32 = fixed('Hash32', 32, 'A 32-byte hash or identifier.');
export const address20 = fixed('Address20', 20, 'The 20 bytes of a wallet address.');
export const uuid16 = fixed('Uuid16', 16, 'The 16 bytes of a UUID.');
export const keyId8 = fixed(
  'KeyId8',
  8,
  'The first 8 bytes of the SHA-256 of an Ed25519 public key.',
);
export const publicKey32 = fixed('PublicKey32', 32, 'A raw Ed25519 public key.');
export const signature64 = fixed('Signature64', 64, 'A raw Ed25519 signature.');

export const side = {
  type: 'enum',
  name: 'Side',
  symbols: ['BUY', 'SELL'],
  default: 'BUY',
} as const satisfies AvroEnum;

export const timeInForce = {
  type: 'enum',
  name: 'TimeInForce',
  symbols: ['GTC', 'GTD', 'FOK', 'FAK'],
  default: 'GTC',
} as const satisfies AvroEnum;

export const marketMode = {
  type: 'enum',
  name: 'MarketMode',
  symbols: ['OPEN', 'POST_ONLY', 'CANCEL_ONLY', 'HALTED', 'RESOLVED'],
  default: 'HALTED',
  doc: 'What a market takes; cancels are taken in every mode.',
} as const satisfies AvroEnum;

export const keyRole = {
  type: 'enum',
  name: 'KeyRole',
  symbols: ['INGRESS', 'OWNER', 'OPERATOR', 'LEDGER'],
  default: 'INGRESS',
  doc: 'INGRESS keys sign orders and cancels, OWNER keys ticks, LEDGER keys ledger generations, the OPERATOR key everything.',
} as const satisfies AvroEnum;

export const refusalCode = {
  type: 'enum',
  name: 'RefusalCode',
  symbols: refusalCodes,
  default: 'unknown',
  doc: 'Why; see schemas/src/refusals.ts.',
} as const;

export const matchType = {
  type: 'enum',
  name: 'MatchType',
  symbols: ['COMPLEMENTARY', 'MINT', 'MERGE'],
  default: 'COMPLEMENTARY',
  doc: 'Buyer meets seller of one token; two buyers mint a pair; two sellers merge a pair.',
} as const satisfies AvroEnum;

export const cancelReason = {
  type: 'enum',
  name: 'CancelReason',
  symbols: [
    'USER',
    'SESSION',
    'EXPIRED',
    'SELF_TRADE',
    'REMAINDER',
    'MARKET',
    'UNKNOWN',
    'TOO_LATE',
  ],
  default: 'UNKNOWN',
  doc: 'USER: asked for. SESSION: heartbeat missed. EXPIRED: GTD reached. SELF_TRADE and REMAINDER: the taker rest that may not rest. MARKET: resolved or closed. TOO_LATE: booked while the clock of the partition stood, later than the time-to-book limit.',
} as const satisfies AvroEnum;

export const selfTrade = {
  type: 'enum',
  name: 'SelfTrade',
  symbols: ['CANCEL_NEWEST', 'CANCEL_OLDEST', 'CANCEL_BOTH', 'ALLOW'],
  default: 'CANCEL_NEWEST',
  doc: 'What happens when an order meets one of the same signer: the incoming rest ends, the resting order ends, both end, or they trade.',
} as const satisfies AvroEnum;

export const keyKind = {
  type: 'enum',
  name: 'KeyKind',
  symbols: ['TRADING', 'BUILDER'],
  default: 'TRADING',
  doc: 'TRADING keys prove private requests; BUILDER keys name who an order came through and open nothing.',
} as const satisfies AvroEnum;

export const walletStatusKind = {
  type: 'enum',
  name: 'WalletStatusKind',
  symbols: ['NORMAL', 'CLOSED_ONLY', 'BANNED'],
  default: 'BANNED',
  doc: 'CLOSED_ONLY wallets may only sell and cancel; BANNED ones change nothing. A status nobody knows yet counts as BANNED.',
} as const satisfies AvroEnum;

export const agentStatus = {
  type: 'enum',
  name: 'AgentStatus',
  symbols: ['ACTIVE', 'PAUSED'],
  default: 'PAUSED',
  doc: 'The key of a paused agent proves nothing until it is resumed.',
} as const satisfies AvroEnum;

export type Side = (typeof side.symbols)[number];
export type TimeInForce = (typeof timeInForce.symbols)[number];
export type MarketMode = (typeof marketMode.symbols)[number];
export type KeyRole = (typeof keyRole.symbols)[number];
export type MatchType = (typeof matchType.symbols)[number];
export type CancelReason = (typeof cancelReason.symbols)[number];
export type SelfTrade = (typeof selfTrade.symbols)[number];
export type KeyKind = (typeof keyKind.symbols)[number];
export type WalletStatusKind = (typeof walletStatusKind.symbols)[number];
export type AgentStatus = (typeof agentStatus.symbols)[number];
