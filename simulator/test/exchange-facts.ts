import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import type { ListedToken } from '@pm/domain/catalog/catalog-index';
import { openSignOffKey, type SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { openRecordCodec } from '@pm/kit/registry';
import {
  conditionIdFromBytes,
  hexBytes,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas/ids';
import { newestRules } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import type { KeyRole } from '@pm/schemas/log/types';
import { setMarketCommand } from '../../operator/src/catalog/matcher-market.io.ts';

export const startMs = 1_700_000_000_000;
export const partitionCount = 3;
const marketsPerPartition = 2;
export const walletCount = 8;
export const ingressCount = 2;

export const topicNames = {
  orders: 'orders',
  executions: 'executions',
  transfers: 'transfers',
  deadLetters: 'dead-letters',
  freezes: 'withdrawal-freezes',
};

/** The registry has only our own schemas. */
const noOther = async () => null;

export const codecs = {
  orders: openRecordCodec(topics.orders.value, 1, noOther, ['PlaceOrder', 'CancelOrder']),
  executions: openRecordCodec(topics.executions.value, 2, noOther),
  deadLetters: openRecordCodec(topics.deadLetters.value, 3, noOther),
  transfers: openRecordCodec(topics.transfers.value, 4, noOther),
  freezes: openRecordCodec(topics.withdrawalFreezes.value, 5, noOther),
};

/** A codec of executions of its own, whose memory of these events is used again. */
export const executionsCodec = (reused: readonly string[]) =>
  openRecordCodec(topics.executions.value, 2, noOther, reused);

const keyOf = (number: number): SignOffKey => openSignOffKey(Buffer.alloc(32, number));

export const keys = {
  opening: keyOf(1),
  owner: keyOf(2),
  ledger: keyOf(3),
  ingress: [keyOf(4), keyOf(5)],
};

/** Bytes that name a thing. */
export function named(length: number, kind: number, number: number): Buffer {
  const bytes = Buffer.alloc(length, kind);
  bytes.writeUInt32BE(number, length - 4);
  return bytes;
}

export const walletOf = (index: number): WalletAddress => walletFromBytes(named(20, 1, index));

export type Market = ListedToken['market'];

/** Markets of all partitions; the second one of each delays takers. */
export const markets: readonly Market[] = Array.from(
  { length: partitionCount * marketsPerPartition },
  (_, index) => {
    const number = index + 1;
    const facts = {
      market: number,
      partition: Math.floor(index / marketsPerPartition),
      conditionId: named(32, 3, number),
      token0: named(32, 4, number),
      token1: named(32, 5, number),
      tick: 100,
      minSizeMicro: 1_000_000,
      feeRateBps: 100,
      mode: 'OPEN',
      takerDelayMs: index % marketsPerPartition === 1 ? 900 : 0,
      payout0: -1,
    };
    return facts as unknown as Market;
  },
);

export function tokenOf(market: Market, outcome: 0 | 1): ListedToken {
  const conditionId = conditionIdFromBytes(market.conditionId);
  return { market, conditionId, outcome } as unknown as ListedToken;
}

const limits = { bookAgeLimitMs: 2_000, orderAgeLimitMs: 3_600_000 };
export const { bookAgeLimitMs } = limits;

const setKey = (key: SignOffKey, role: KeyRole): Command => ({
  kind: 'SetKey',
  publicKey: key.publicKey,
  role,
  active: true,
});

/** The first records of a partition. */
export function openingRecords(partition: number): readonly Buffer[] {
  const opening: Command = {
    kind: 'OpenPartition',
    partition,
    operatorKey: keys.opening.publicKey,
    feeWallet: hexBytes(defaultFeeWallet),
    timeMs: startMs,
    ...limits,
  };
  const own = markets.filter((market) => market.partition === partition);
  const envelopes: readonly (readonly Command[])[] = [
    [opening, { kind: 'SetRules', version: newestRules }],
    [
      setKey(keys.owner, 'OWNER'),
      setKey(keys.ledger, 'LEDGER'),
      ...keys.ingress.map((key) => setKey(key, 'INGRESS')),
    ],
    own.map((market) => setMarketCommand(market)),
  ];
  return envelopes.map((commands, sequence) =>
    sealEnvelope(codecs.orders, keys.opening, { partition, sequence: sequence + 1, commands }),
  );
}

/** A metric that keeps nothing, for every name. */
export const noMetrics: never = new Proxy(
  {},
  { get: () => ({ add() {}, set() {}, observe() {} }) },
) as never;
