import { ledgerCallItemsMax } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { LogAudit } from '@pm/operate/audit/log-audit';
import { type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import { everyWallet, type WithdrawalFreeze } from '@pm/schemas/log/accounts';
import type { Execution, ExecutionEvent } from '@pm/schemas/log/executions';
import { redisKeys } from '@pm/schemas/redis/keys';
import { engineUrl } from '../../../kit/test/engines.ts';
import { Engine } from '../../../matcher/src/core/index.ts';
import {
  envelopeOf,
  feeWallet,
  marketRules,
  opening,
  orderOf,
  partition,
  splitOf,
  walletOf,
} from '../../../matcher/test/core/commands.ts';
import { moneyPieces } from '../../src/ledger/pieces.ts';
import { SolvencyCheck } from '../../src/ledger/solvency-check.io.ts';

const keys = redisKeys('solvency-test');
const usdc = 1_000_000;
const [first, second] = [walletFromBytes(walletOf(1)), walletFromBytes(walletOf(2))];
let redis: RedisClient;
let ledger: Ledger;

beforeAll(() => {
  redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
});

afterAll(() => redis?.quit());

/** An open ledger in which both wallets have 100 USDC. */
beforeEach(async () => {
  const left = await redis.keys('solvency-test:*');
  if (left.length > 0) await redis.del(...left);
  ledger = openLedger(redis, keys);
  const transfer = { amountMicro: 100 * usdc, generation: 0, timeMs: 1 };
  const transfers = [
    { ...transfer, transferId: '0x01', wallet: first },
    { ...transfer, transferId: '0x02', wallet: second },
    { ...transfer, transferId: '0x03', wallet: first, amountMicro: 0, generation: 1 },
  ];
  await ledger.applyTransfers({ fromOffset: 0, toOffset: 3, transfers });
  const plan = { id: 'first', generation: 1 };
  await ledger.planRebuild(plan);
  expect(await ledger.open(plan, [])).toBe(true);
});

/** Orders of two wallets that mint 10 pairs, and a split; the core is the real one. */
function honestRecords(): Execution[] {
  const engine = new Engine(partition);
  const generation = 1;
  const bids = [
    orderOf(1, 1, { generation }),
    orderOf(2, 2, { outcome: 1, generation }),
    { ...splitOf(3, 1, 5 * usdc), generation },
  ];
  return [
    envelopeOf([opening, marketRules(1)], 'OPERATOR'),
    ...bids.map((command) => envelopeOf([command])),
  ].map((envelope, inOffset) => {
    const { events, timeMs } = engine.apply(envelope, inOffset);
    return {
      chain: Buffer.alloc(32),
      keyId: Buffer.alloc(8),
      sequence: 0,
      inOffset,
      timeMs,
      events,
    };
  });
}

/** Honest records with changed events, like those that a core with a defect would write. */
function withDefect(spoil: (event: ExecutionEvent) => ExecutionEvent): Execution[] {
  return honestRecords().map((record) => ({ ...record, events: record.events.map(spoil) }));
}

/** Folds the records as projectors do, while the check runs; the freezes that are written within `ms`. */
async function freezesWithin(records: readonly Execution[], ms: number) {
  const frozen = new Map<WalletAddress, WithdrawalFreeze>();
  let breaches = 0;
  const check = new SolvencyCheck({
    ledger,
    producer: { send: async () => [] },
    codec: {
      encode(freeze) {
        frozen.set(walletFromBytes(freeze.wallet), freeze);
        return Buffer.alloc(0);
      },
    },
    topic: 'withdrawal-freezes',
    log: silentLog,
    nowMs: () => 5,
    onBreach: () => {
      breaches += 1;
    },
  }).start();
  const numbered = records.map((execution, offset) => ({ offset, execution }));
  for (const piece of moneyPieces(numbered, ledgerCallItemsMax)) {
    const clock = { clockMs: piece.clockMs ?? 0, bookAgeLimitMs: 2_000 };
    await ledger.applyExecutions({ ...piece, ...clock, partition });
  }
  const refusedMeanwhile = await withdrawalOf(second);
  const untilMs = Date.now() + ms;
  while (frozen.size === 0 && Date.now() < untilMs) await new Promise((go) => setTimeout(go, 10));
  await check.close();
  return { frozen, breaches, refusedMeanwhile };
}

async function withdrawalOf(wallet: WalletAddress): Promise<string> {
  const withdrawal = { transferId: `0x${wallet}`, wallet, amountMicro: 1, acceptedAtMs: 1 };
  return (await ledger.reserveWithdrawal(withdrawal)).outcome;
}

/** Violations that the audit, which shares no code with the check, finds in the records; one per line. */
function auditOf(records: readonly Execution[]): string {
  const audit = new LogAudit(walletFromBytes(feeWallet));
  for (const record of records) audit.record(record, { partition, chainHolds: true });
  audit.finish();
  return audit.violations.join('\n');
}

const onMarket = (breach: RegExp, records: () => Execution[]) => ({ breach, records });

/** Defects of a core, and the words of the audit for each. */
const defects = {
  'a split that gives a token more than it takes': onMarket(/C1 market 1/, () =>
    withDefect((event) =>
      event.kind === 'PositionMoved' ? { ...event, token0Micro: event.token0Micro + usdc } : event,
    ),
  ),
  'a mint of tokens of one kind': onMarket(/C1 market 1/, () =>
    withDefect((event) => (event.kind === 'Fill' ? { ...event, takerOutcome: 0 } : event)),
  ),
  'a mint that locks less than it must': onMarket(/C[12]/, () =>
    withDefect((event) => (event.kind === 'Fill' ? { ...event, makerPrice: 4_000 } : event)),
  ),
  'money that appears from nowhere': onMarket(/C2/, () =>
    withDefect((event) =>
      event.kind === 'MoneyMoved' ? { ...event, freeMicro: event.freeMicro + 1 } : event,
    ),
  ),
} as const;

test.each(Object.entries(defects))(
  '%s freezes all withdrawals and closes its wallets within a second; the audit finds it too',
  async (_name, { breach, records }) => {
    const { frozen, breaches, refusedMeanwhile } = await freezesWithin(records(), 1_000);
    expect(breaches).toBeGreaterThan(0);
    expect(frozen.get(everyWallet)).toMatchObject({ frozen: true, unsound: true });
    expect(frozen.get(first)).toMatchObject({ frozen: true, unsound: true });
    expect(refusedMeanwhile).toBe('frozen');
    expect(auditOf(records())).toMatch(breach);
  },
);

test('a wallet that spent what was never reserved is frozen and closed within a second, and no other', async () => {
  const records = withDefect((event) =>
    event.kind === 'MoneyMoved' && walletFromBytes(event.wallet) === first
      ? {
          ...event,
          freeMicro: event.freeMicro - 200 * usdc,
          heldMicro: event.heldMicro + 200 * usdc,
        }
      : event,
  );
  const { frozen, refusedMeanwhile } = await freezesWithin(records, 1_000);
  expect([...frozen.keys()]).toEqual([first]);
  expect(frozen.get(first)).toMatchObject({ frozen: true, unsound: true });
  expect(refusedMeanwhile).toBe('reserved');
  expect(auditOf(records)).toMatch(/C2/);
});

test('records of a sound core freeze no wallet', async () => {
  const { frozen, breaches } = await freezesWithin(honestRecords(), 600);
  expect([frozen.size, breaches]).toEqual([0, 0]);
  expect(auditOf(honestRecords())).toBe('');
  expect(await withdrawalOf(second)).toBe('already');
});

test('a market that was dealt with is not found again before its gap changes', async () => {
  const records = defects['a split that gives a token more than it takes'].records();
  await freezesWithin(records, 1_000);
  for (const breach of await ledger.marketBreaches()) await ledger.acknowledgeBreach(breach);
  expect(await withdrawalOf(second)).toBe('reserved');
  const merged = { ...records[0], events: [] } as Execution;
  const [piece] = moneyPieces([{ offset: records.length, execution: merged }], 10);
  if (piece === undefined) throw new Error('a record is a piece');
  await ledger.applyExecutions({ ...piece, clockMs: 1, bookAgeLimitMs: 1, partition });
  expect(await ledger.marketBreaches()).toEqual([]);
});
