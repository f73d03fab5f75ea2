import { existsSync } from 'node:fs';
import type { ListedServiceKey } from '@pm/domain/authority/service-keys';
import type { KeptOpenings, OpenedPartitions } from '@pm/domain/signoff/first-envelope.io';
import { keyIdOf, openSignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { Sequences } from '@pm/domain/signoff/sequences';
import type { LogAdmin, LogClient, LogProducer, PartitionBounds } from '@pm/kit/kafka';
import { type RecordCodec, readValue } from '@pm/kit/registry';
import { hexBytes, type WalletAddress } from '@pm/schemas/ids';
import { newestRules } from '@pm/schemas/log/log-rules';
import type { Command, CommandOf, Envelope } from '@pm/schemas/log/orders';
import type { KeyRole } from '@pm/schemas/log/types';
import { StackError } from '../local/stack-error.ts';
import { type ExchangeKeys, publicKeyOf, readAuthority } from './keys.ts';
import { findOpening } from './openings.ts';
import type { TradingMode } from './trading-mode.ts';

/** An order older than this when it reaches the book is refused (architecture.md). */
const bookAgeLimitMs = 2_000;

/** An order signed longer ago is stale; its id is remembered as long. */
const orderAgeLimitMs = 3_600_000;

export interface PartitionOpening {
  readonly client: LogClient;
  readonly admin: LogAdmin;
  readonly producer: LogProducer;
  readonly codec: RecordCodec<Envelope>;
  readonly ordersTopic: string;
  /** Partitions that every topic of matching has; `orders` may have been grown alone since. */
  readonly partitions: number;
  readonly keys: ExchangeKeys;
  /** The wallet that fees are paid to. */
  readonly feeWallet: WalletAddress;
  readonly nowMs: number;
  readonly kept: KeptOpenings & OpenedPartitions;
  /**
   * Whether set-up or a rotation has listed the key with this id (hex) before, in all partitions that were there; it
   * may be retired by now.
   */
  wasListed(keyId: string): boolean;
  /**
   * Keys of all processes that set-up or a rotation has listed and that are not retired: partitions that are added
   * begin with them.
   */
  listedKeys(): readonly ListedServiceKey[];
  /** Trading mode of all markets at the moment: partitions that are added begin with it. */
  tradingMode(): Promise<TradingMode>;
}

/** The partitions of `orders` after set-up, by their numbers. */
export interface PartitionsFound {
  /** Opened now. */
  readonly opened: readonly number[];
  /** Partitions of `opened` that had records of others before their opening: their matchers reject those records. */
  readonly behindOthers: readonly number[];
  readonly openBefore: readonly number[];
  /** Not opened, since their first records are gone: a matcher could not begin with them. */
  readonly cut: readonly number[];
  /** Not opened, since the seed of the opening key is not there. */
  readonly locked: readonly number[];
}

/** How a partition was opened; without `value` it was not. */
interface PartitionState {
  readonly partition: number;
  readonly bounds: PartitionBounds;
  readonly value: Buffer | null;
}

/** Whether `openPartitions` opens some beside others that are in use. */
export async function opensMore(opening: Omit<PartitionOpening, 'nowMs'>): Promise<boolean> {
  const { kept, keys } = opening;
  if (kept.openedPartitions.length === 0 || !existsSync(keys.authorityFile)) return false;
  const states = await partitionStates(opening);
  return states.some(({ value, bounds }) => value === null && bounds.low === 0);
}

/**
 * Writes into every partition that has none the record that opens it: the rules and the keys that may sign, signed by
 * the opening key. A partition opened by an older version gets newer rules, and keys of the ledger and the operator
 * that were never listed, as a later record; a repetition changes nothing. Partitions that cannot be opened stay as
 * they are, beside others that are. Throws a `StackError` for a first record that is gone and was never kept.
 */
export async function openPartitions(opening: PartitionOpening): Promise<PartitionsFound> {
  const { producer, ordersTopic: topic, kept, keys } = opening;
  const states = await partitionStates(opening);
  const closed = states.filter(({ value }) => value === null);
  const isGrowth = kept.openedPartitions.length > 0;
  const cut = closed.filter(({ bounds }) => bounds.low > 0);
  if (!isGrowth && cut[0] !== undefined) throw neverKept(topic, cut[0].partition);
  const whole = closed.filter(({ bounds }) => bounds.low === 0);
  const isLocked = isGrowth && !existsSync(keys.authorityFile);
  const opened = isLocked ? [] : whole;
  const sequence = new Sequences().next(opening.nowMs);
  const mode = isGrowth && opened.length > 0 ? await opening.tradingMode() : 'OPEN';
  const halt = mode === 'OPEN' ? [] : [{ kind: 'SetTradingMode', mode } as const];
  const records = [
    ...opened.map(({ partition }) => ({
      partition,
      commands: [...openingCommands(opening, partition), ...halt],
    })),
    ...(await lateRecords(opening, states)),
  ].map(({ partition, commands }) => {
    const value = sealed(opening, { partition, sequence, commands });
    return { topic, partition, key: null, value };
  });
  if (records.length > 0) await producer.send(records);
  return {
    opened: numbersOf(opened),
    behindOthers: numbersOf(opened.filter(({ bounds }) => bounds.high > 0)),
    openBefore: numbersOf(states.filter(({ value }) => value !== null)),
    cut: numbersOf(cut),
    locked: numbersOf(isLocked ? whole : []),
  };
}

function numbersOf(states: readonly PartitionState[]): readonly number[] {
  return states.map(({ partition }) => partition).sort((one, other) => one - other);
}

async function partitionStates(
  opening: Omit<PartitionOpening, 'nowMs'>,
): Promise<readonly PartitionState[]> {
  const { admin, kept, keys, ordersTopic, partitions } = opening;
  const place = { ...opening, openingKey: keys.openingKey };
  const states: PartitionState[] = [];
  for (const [partition, bounds] of await admin.bounds(ordersTopic)) {
    if (partition >= partitions) continue;
    const value = kept.openingOf(partition) ?? (await findOpening(place, partition, bounds));
    states.push({ partition, bounds, value });
  }
  return states;
}

function neverKept(topic: string, partition: number): StackError {
  return new StackError(
    'BAD_DESCRIPTION',
    `the first record of ${topic}/${partition}, which opens it, is gone and was never kept`,
  );
}

/** Records that an older version has not written into the partitions that are open. */
async function lateRecords(opening: PartitionOpening, states: readonly PartitionState[]) {
  const records: { partition: number; commands: readonly Command[] }[] = [];
  for (const { partition, value } of states) {
    const commands = value === null ? [] : await missingCommands(opening, value);
    if (commands.length > 0) records.push({ partition, commands });
  }
  return records;
}

/** The record that opens a partition says what rules it began with. */
async function missingCommands(
  opening: PartitionOpening,
  value: Buffer,
): Promise<readonly Command[]> {
  const { commands } = await readValue(opening.codec, value, (cause) => {
    throw cause;
  });
  const hasRules = commands.some((one) => one.kind === 'SetRules' && one.version >= newestRules);
  const missing = laterKeys(opening).filter((key) => !opening.wasListed(idOf(key)));
  return [...(hasRules ? [] : [newRules]), ...missing];
}

const newRules: CommandOf<'SetRules'> = { kind: 'SetRules', version: newestRules };

/** The keys that partitions of older versions were opened without. */
function laterKeys({ keys }: PartitionOpening): readonly CommandOf<'SetKey'>[] {
  return [keyOf(keys.ledgerSeed, 'LEDGER'), keyOf(keys.operatorSeed, 'OPERATOR')];
}

function keyOf(seed: string, role: KeyRole): CommandOf<'SetKey'> {
  return { kind: 'SetKey', publicKey: publicKeyBytes(seed), role, active: true };
}

function publicKeyBytes(seed: string): Buffer {
  return Buffer.from(publicKeyOf(seed), 'hex');
}

function sealed(
  { codec, keys }: PartitionOpening,
  content: Parameters<typeof sealEnvelope>[2],
): Buffer {
  const { openingSeed } = readAuthority(keys, 'set-up of partitions');
  const key = openSignOffKey(Buffer.from(openingSeed, 'hex'));
  return sealEnvelope(codec, key, content);
}

function openingCommands(opening: PartitionOpening, partition: number): readonly Command[] {
  const { keys, feeWallet } = opening;
  return [
    {
      kind: 'OpenPartition',
      partition,
      operatorKey: Buffer.from(keys.openingKey, 'hex'),
      feeWallet: hexBytes(feeWallet),
      bookAgeLimitMs,
      orderAgeLimitMs,
      timeMs: opening.nowMs,
    },
    newRules,
    ...firstKeys(opening),
  ];
}

/**
 * The keys of `keys.json` and those that other partitions have beside them, of a second ingress or a rotation that is
 * under way; none that was retired: its retirement is not repeated here. The opening key has its right by the opening.
 */
function firstKeys(opening: PartitionOpening): readonly CommandOf<'SetKey'>[] {
  const { keys } = opening;
  const own = [keyOf(keys.ingressSeed, 'INGRESS'), keyOf(keys.ownerSeed, 'OWNER')];
  const listed = opening
    .listedKeys()
    .map((key) => ({ ...key, kind: 'SetKey', active: true }) as const);
  const listedIds = new Set(listed.map(idOf));
  const missing = [...own, ...laterKeys(opening)].filter(
    (key) => !listedIds.has(idOf(key)) && !opening.wasListed(idOf(key)),
  );
  const others = listed.filter(({ publicKey }) => publicKey.toString('hex') !== keys.openingKey);
  return [...missing, ...others];
}

function idOf({ publicKey }: Pick<CommandOf<'SetKey'>, 'publicKey'>): string {
  return keyIdOf(publicKey).toString('hex');
}
