import type { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import {
  type ChangedMarket,
  type FieldProblem,
  type ImportRefusal,
  inShutEvent,
  isShut,
  noNotice,
  readDates,
  refusal,
  sameFacts,
  wordsOf,
} from '@pm/domain/catalog/facts';
import { feeVersionOf } from '@pm/domain/catalog/market-rules';
import type { Keccak } from '@pm/domain/orders/eip712';
import { assert } from '@pm/kit/assert';
import { parseMicro, parsePrice } from '@pm/schemas/decimal';
import type { ImportMarket } from '@pm/schemas/http/operator';
import {
  conditionIdFromBytes,
  parseTokenId,
  tokenIdBytes,
  tokenIdFromBytes,
} from '@pm/schemas/ids';
import type { CatalogEvent, CatalogMarket } from '@pm/schemas/log/catalog';
import { lotMicro, microPerUnit, orderSizeMaxMicro } from '@pm/schemas/money';
import { refusedWords } from './texts.ts';

/** The state of the import that the change of one market needs. */
export interface MarketDraft {
  readonly context: {
    readonly catalog: CatalogIndex;
    readonly partitions: {
      /** Partitions that are opened. */
      readonly numbers: readonly number[];
    };
    readonly nowMs: number;
    readonly keccak: Keccak;
  };
  /** Open markets of each partition that takes new ones, those of this import included. */
  readonly load: Map<number, number>;
  readonly names: Set<string>;
  next(kind: 'market'): number;
  /** The neg-risk group of an event: that of its markets. */
  groupOf(event: CatalogEvent): Buffer;
}

export interface MarketImport {
  readonly market: ImportMarket;
  readonly event: CatalogEvent;
  readonly category: string | undefined;
}

type Planned = { readonly kind: 'market'; readonly planned: ChangedMarket } | ImportRefusal;

const defaultTick = '0.01';
const defaultMinSize = '5';
const rewardsMinSizeMicro = 5 * microPerUnit;
const rewardsMaxSpread = 300;

/** The change of one market of an import. */
export function changeMarketEntry(sent: MarketImport, draft: MarketDraft, path: string): Planned {
  const refuse = (problem: FieldProblem) => refusal(problem, path);
  const words = refusedWords(sent.market, path);
  if (words !== null) return words;
  const identity = readIdentity(sent.market, draft);
  if ('field' in identity) return refuse(identity);
  const { known, begun } = identity;
  if (known !== undefined && known.eventId !== sent.event.id) {
    return refuse({ field: 'slug', reason: 'belongs to another event' });
  }
  if (known === undefined && isShut(sent.event)) return refuse(inShutEvent('slug'));
  const rules = readRules(sent.market, known ?? begun);
  if ('field' in rules) return refuse(rules);
  const dates = readDates(sent.market, known, sent.event);
  if ('field' in dates) return refuse(dates);
  const entry = marketEntry(sent, { identity, rules, dates }, draft);
  if (known !== undefined && known.payout0 >= 0 && !sameRules(known, entry)) {
    return refuse({ field: 'slug', reason: 'is resolved, its rules cannot change' });
  }
  return { kind: 'market', planned: changeOf(entry, known, draft.context.nowMs) };
}

/** The market that an import lists under this slug or condition, whatever has become of it since, its slug too. */
export function findListed(
  sent: Pick<ImportMarket, 'slug' | 'conditionId'>,
  { catalog, keccak }: MarketDraft['context'],
): CatalogMarket | undefined {
  const condition =
    sent.conditionId === undefined
      ? named(keccak, 'condition', sent.slug)
      : bytesOf(sent.conditionId);
  const listed = catalog.findMarketBySlug(sent.slug);
  return listed ?? catalog.findCondition(conditionIdFromBytes(condition))?.market;
}

interface Identity {
  readonly known: CatalogMarket | undefined;
  /** Entry that an interrupted import has begun to list, and that the book may have already. */
  readonly begun: CatalogMarket | undefined;
  readonly conditionId: Buffer;
  readonly token0: Buffer;
  readonly token1: Buffer;
}

/** Condition and tokens: as sent, as known, or made from the slug; none of them may belong to another market. */
function readIdentity(sent: ImportMarket, draft: MarketDraft): Identity | FieldProblem {
  const { keccak } = draft.context;
  const condition = sent.conditionId === undefined ? null : bytesOf(sent.conditionId);
  const known = findListed(sent, draft.context);
  const conditionId = condition ?? known?.conditionId ?? named(keccak, 'condition', sent.slug);
  const begun = draft.context.catalog.findUnlisted(conditionIdFromBytes(conditionId));
  if (known !== undefined && !known.conditionId.equals(conditionId)) {
    return { field: 'conditionId', reason: 'differs from what is listed' };
  }
  const made = (outcome: number) =>
    named(keccak, 'token', `${conditionId.toString('hex')}|${outcome}`);
  const token0 = tokenOf(sent.tokenIds?.[0]) ?? (known ?? begun)?.token0 ?? made(0);
  const token1 = tokenOf(sent.tokenIds?.[1]) ?? (known ?? begun)?.token1 ?? made(1);
  const identity = { known, begun, conditionId, token0, token1 };
  if (sent.tokenIds?.some((id) => parseTokenId(id) === null) === true || token0.equals(token1)) {
    return { field: 'tokenIds', reason: 'are not two different uint256' };
  }
  return clashOf(sent.slug, identity, draft) ?? identity;
}

/** The part of an identity that differs from the catalog, or belongs to another entry; null when there is none. */
function clashOf(slug: string, identity: Identity, draft: MarketDraft): FieldProblem | null {
  const { known, begun, conditionId, token0, token1 } = identity;
  const before = known ?? begun;
  if (before !== undefined && !(before.token0.equals(token0) && before.token1.equals(token1))) {
    return { field: 'tokenIds', reason: 'differ from what is listed' };
  }
  for (const name of [`slug:${slug}`, ...[conditionId, token0, token1].map(hexOf)]) {
    if (draft.names.has(name)) return { field: 'slug', reason: 'appears twice in this import' };
    draft.names.add(name);
  }
  if (known === undefined && isTaken(identity, draft.context.catalog)) {
    return { field: 'tokenIds', reason: 'belong to another market' };
  }
  return null;
}

/** Whether another market has one of the tokens, or is being listed with it. */
function isTaken({ begun, token0, token1 }: Identity, catalog: CatalogIndex): boolean {
  const tokens = [token0, token1];
  const others = catalog.unlisted().filter((market) => market !== begun);
  const begunWith = others.flatMap((market) => [market.token0, market.token1]);
  return tokens.some(
    (token) =>
      catalog.findToken(tokenIdFromBytes(token)) !== undefined ||
      begunWith.some((other) => other.equals(token)),
  );
}

interface Rules {
  readonly tick: number;
  readonly minSizeMicro: number;
  readonly feeRateBps: number;
}

function readRules(sent: ImportMarket, known: CatalogMarket | undefined): Rules | FieldProblem {
  const tick = readTick(sent, known);
  if (typeof tick !== 'number') return tick;
  const minSize = sent.minOrderSize ?? (known === undefined ? defaultMinSize : undefined);
  const minSizeMicro = minSize === undefined ? (known?.minSizeMicro ?? null) : parseMicro(minSize);
  if (minSizeMicro === null || minSizeMicro < lotMicro || minSizeMicro > orderSizeMaxMicro) {
    return { field: 'minOrderSize', reason: 'is no size of at least 0.01 shares' };
  }
  return {
    tick,
    minSizeMicro,
    feeRateBps: sent.feeRateBps ?? known?.feeRateBps ?? 0,
  };
}

/**
 * The tick of a listed market only gets finer, since orders rest on its grid (conventions.md 3.5). It may have become
 * finer by itself, so a coarser one, as the file of its listing has it, is no change.
 */
function readTick(sent: ImportMarket, known: CatalogMarket | undefined): number | FieldProblem {
  if (known !== undefined && sent.tickSize === undefined) return known.tick;
  const tick = parsePrice(sent.tickSize ?? defaultTick);
  if (tick === null) return { field: 'tickSize', reason: 'is no tick size' };
  if (known === undefined || known.tick % tick === 0) return tick;
  return tick % known.tick === 0
    ? known.tick
    : { field: 'tickSize', reason: 'does not fit into what is listed' };
}

function marketEntry(
  { market: sent, event, category }: MarketImport,
  read: { identity: Identity; rules: Rules; dates: { startDateMs: number; endDateMs: number } },
  draft: MarketDraft,
): CatalogMarket {
  const { known, begun, conditionId, token0, token1 } = read.identity;
  const { nowMs, keccak } = draft.context;
  const negRisk = sent.negRisk ?? known?.negRisk ?? false;
  const rebateBps = known?.rebateBps ?? 0;
  return {
    kind: 'CatalogMarket',
    market: (known ?? begun)?.market ?? draft.next('market'),
    eventId: event.id,
    conditionId,
    questionId: known?.questionId ?? named(keccak, 'question', sent.slug),
    token0,
    token1,
    ...namesOf(sent, known),
    ...wordsOf(sent, known),
    category: category ?? known?.category ?? '',
    creator: known?.creator ?? '',
    ...read.dates,
    createdAtMs: known?.createdAtMs ?? nowMs,
    updatedAtMs: known?.updatedAtMs ?? nowMs,
    ...stateOf(read.identity, draft),
    negRisk,
    negRiskMarketId: negRisk ? (known?.negRiskMarketId ?? draft.groupOf(event)) : null,
    ...read.rules,
    rebateBps,
    feeVersion: feeVersionOf(known, { ...read.rules, rebateBps }),
    rewardsDailyMicro: rewardsOf(sent, known),
    rewardsMinSizeMicro: known?.rewardsMinSizeMicro ?? rewardsMinSizeMicro,
    rewardsMaxSpread: known?.rewardsMaxSpread ?? rewardsMaxSpread,
  };
}

function namesOf(sent: ImportMarket, known: CatalogMarket | undefined) {
  return {
    outcome0: sent.outcomes?.[0] ?? known?.outcome0 ?? 'Yes',
    outcome1: sent.outcomes?.[1] ?? known?.outcome1 ?? 'No',
    question: sent.question,
    groupItemTitle: sent.groupItemTitle ?? known?.groupItemTitle ?? '',
    slug: sent.slug,
  };
}

/**
 * The fields that no import changes; a new market starts open, in the partition with the fewest open markets, or where
 * its listing began.
 */
function stateOf({ known, begun }: Identity, draft: MarketDraft) {
  if (known === undefined) {
    // A listing that an older version began in a partition that is not opened begins again elsewhere.
    // One that is opened may have the market in its book, also while its owner is not heard.
    const { numbers } = draft.context.partitions;
    const hasBegun = begun !== undefined && numbers.includes(begun.partition);
    return { ...newState, partition: hasBegun ? begun.partition : takeLeastLoaded(draft.load) };
  }
  return {
    active: known.active,
    closed: known.closed,
    closedAtMs: known.closedAtMs,
    archived: known.archived,
    mode: known.mode,
    takerDelayMs: known.takerDelayMs,
    payout0: known.payout0,
    askedPayout0: known.askedPayout0,
    proposedPayout0: known.proposedPayout0,
    paysAtMs: known.paysAtMs,
    challengedAtMs: known.challengedAtMs,
    challenges: known.challenges,
    metadata: known.metadata,
    nextFeeRateBps: known.nextFeeRateBps,
    feeChangesAtMs: known.feeChangesAtMs,
    partition: known.partition,
    epoch: known.epoch,
    listed: known.listed,
  };
}

const newState = {
  active: true,
  closed: false,
  closedAtMs: 0,
  archived: false,
  mode: 'OPEN',
  takerDelayMs: 0,
  ...noNotice,
  payout0: -1,
  askedPayout0: -1,
  proposedPayout0: -1,
  paysAtMs: 0,
  challengedAtMs: 0,
  challenges: 0,
  metadata: '{}',
  epoch: 0,
  listed: true,
} as const;

function changeOf(
  entry: CatalogMarket,
  known: CatalogMarket | undefined,
  nowMs: number,
): ChangedMarket {
  if (known === undefined) return { known, entry, change: 'listed' };
  if (sameFacts(known, entry)) return { known, entry: known, change: 'unchanged' };
  const changed = { ...entry, updatedAtMs: nowMs };
  return { known, entry: changed, change: sameRules(known, entry) ? 'reworded' : 'ruled' };
}

/** Whether the matcher would see no difference. */
function sameRules(left: Rules, right: Rules): boolean {
  return (
    left.tick === right.tick &&
    left.minSizeMicro === right.minSizeMicro &&
    left.feeRateBps === right.feeRateBps
  );
}

/** The rate comes as a JSON number of USDC and is shown only; whole micro-USDC are kept. */
function rewardsOf(sent: ImportMarket, known: CatalogMarket | undefined): number {
  if (sent.rewardsDailyRate === undefined) return known?.rewardsDailyMicro ?? 0;
  return Math.round(sent.rewardsDailyRate * microPerUnit);
}

/** The partition with the fewest open markets, the lowest of several; it is loaded by this. */
function takeLeastLoaded(load: Map<number, number>): number {
  const [first, ...others] = [...load].sort(([one], [other]) => one - other);
  assert(first !== undefined, 'the log has an opened partition');
  const [partition, count] = others.reduce(
    (least, one) => (one[1] < least[1] ? one : least),
    first,
  );
  load.set(partition, count + 1);
  return partition;
}

/** 32 bytes that follow from a name, so that the same import makes the same ids everywhere. */
export function named(keccak: Keccak, kind: string, name: string): Buffer {
  return keccak(Buffer.from(`pm|${kind}|${name}`, 'utf8'));
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}

function hexOf(bytes: Buffer): string {
  return bytes.toString('hex');
}

function tokenOf(text: string | undefined): Buffer | null {
  const id = text === undefined ? null : parseTokenId(text);
  return id === null ? null : tokenIdBytes(id);
}
