import type { AvroRecord, Infer } from '../avro/schema.ts';
import { hash32, marketMode } from './types.ts';

/** The topic `catalog`: events, markets, tags and series as query-api returns them. Key: `kind:id`. */
const text = <const Name extends string>(name: Name, doc: string) =>
  ({ name, type: 'string', doc }) as const;

const closedAtMs = {
  name: 'closedAtMs',
  type: 'long',
  doc: 'When it was closed, Unix milliseconds; 0 while it is not.',
  default: 0,
} as const;

const catalogTag = {
  type: 'record',
  name: 'CatalogTag',
  doc: 'A label that events carry.',
  fields: [
    { name: 'id', type: 'string', doc: 'Decimal number as text.' },
    { name: 'label', type: 'string', doc: 'As shown.' },
    { name: 'slug', type: 'string', doc: 'As in addresses.' },
    { name: 'requiresTranslation', type: 'boolean', doc: 'Whether the label has translations.' },
    { name: 'createdAtMs', type: 'long', doc: 'Unix milliseconds.' },
    { name: 'updatedAtMs', type: 'long', doc: 'Unix milliseconds.' },
  ],
} as const satisfies AvroRecord;

const catalogSeries = {
  type: 'record',
  name: 'CatalogSeries',
  doc: 'Events that recur.',
  fields: [
    { name: 'id', type: 'string', doc: 'Decimal number as text.' },
    { name: 'ticker', type: 'string', doc: 'Short unique code.' },
    { name: 'slug', type: 'string', doc: 'As in addresses.' },
    { name: 'title', type: 'string', doc: 'As shown.' },
    { name: 'seriesType', type: 'string', doc: 'Kind of series.' },
    { name: 'recurrence', type: 'string', doc: 'Period, such as daily.' },
    { name: 'image', type: 'string', doc: 'Address of a picture, or empty.' },
    { name: 'icon', type: 'string', doc: 'Address of a picture, or empty.' },
    { name: 'active', type: 'boolean', doc: 'Deployed and not archived.' },
    { name: 'closed', type: 'boolean', doc: 'No more trading.' },
    { name: 'archived', type: 'boolean', doc: 'Hidden.' },
    { name: 'createdAtMs', type: 'long', doc: 'Unix milliseconds.' },
    { name: 'updatedAtMs', type: 'long', doc: 'Unix milliseconds.' },
  ],
} as const satisfies AvroRecord;

const catalogEvent = {
  type: 'record',
  name: 'CatalogEvent',
  doc: 'A happening with one or more markets.',
  fields: [
    { name: 'id', type: 'string', doc: 'Decimal number as text.' },
    { name: 'ticker', type: 'string', doc: 'Short unique code.' },
    { name: 'slug', type: 'string', doc: 'As in addresses.' },
    { name: 'title', type: 'string', doc: 'As shown.' },
    { name: 'description', type: 'string', doc: 'Rules in words.' },
    { name: 'resolutionSource', type: 'string', doc: 'Address, or empty.' },
    { name: 'image', type: 'string', doc: 'Address of a picture, or empty.' },
    { name: 'icon', type: 'string', doc: 'Address of a picture, or empty.' },
    { name: 'startDateMs', type: 'long', doc: 'Start as announced, Unix milliseconds.' },
    { name: 'creationDateMs', type: 'long', doc: 'First announced.' },
    { name: 'endDateMs', type: 'long', doc: 'Expected resolution.' },
    { name: 'createdAtMs', type: 'long', doc: 'Unix milliseconds.' },
    { name: 'updatedAtMs', type: 'long', doc: 'Unix milliseconds.' },
    { name: 'active', type: 'boolean', doc: 'Deployed and not archived.' },
    { name: 'closed', type: 'boolean', doc: 'No more trading.' },
    { name: 'archived', type: 'boolean', doc: 'Hidden.' },
    closedAtMs,
    { name: 'tagIds', type: { type: 'array', items: 'string' }, doc: 'Its tags.' },
    { name: 'seriesIds', type: { type: 'array', items: 'string' }, doc: 'Its series.' },
    { name: 'metadata', type: 'string', doc: 'Free JSON object as text.' },
  ],
} as const satisfies AvroRecord;

const catalogMarket = {
  type: 'record',
  name: 'CatalogMarket',
  doc: 'One question with two outcomes: its words, its rules, and the partition its book lives in.',
  fields: [
    { name: 'market', type: 'int', doc: 'Its number; `id` on the wire.' },
    text('eventId', 'The event it belongs to.'),
    { name: 'conditionId', type: hash32, doc: 'The condition.' },
    { name: 'questionId', type: hash32, doc: 'Hash of the question at the oracle.' },
    { name: 'token0', type: hash32, doc: 'Token id of outcome 0, big-endian uint256.' },
    { name: 'token1', type: hash32, doc: 'Token id of outcome 1, big-endian uint256.' },
    text('outcome0', 'Name of outcome 0, usually Yes.'),
    text('outcome1', 'Name of outcome 1, usually No.'),
    text('question', 'As shown.'),
    {
      name: 'groupItemTitle',
      type: 'string',
      doc: 'The question in short, beside the title of its event; or empty.',
      default: '',
    },
    text('slug', 'As in addresses.'),
    text('description', 'Rules in words.'),
    text('resolutionSource', 'Address, or empty.'),
    text('image', 'Address of a picture, or empty.'),
    text('icon', 'Address of a picture, or empty.'),
    text('category', 'Category slug, or empty.'),
    text('creator', 'Lower-case wallet, or empty.'),
    {
      name: 'startDateMs',
      type: 'long',
      doc: 'Start as announced; orders are taken from the listing on.',
    },
    { name: 'endDateMs', type: 'long', doc: 'Expected resolution.' },
    { name: 'createdAtMs', type: 'long', doc: 'Unix milliseconds.' },
    { name: 'updatedAtMs', type: 'long', doc: 'Unix milliseconds.' },
    { name: 'active', type: 'boolean', doc: 'Deployed and not archived.' },
    { name: 'closed', type: 'boolean', doc: 'No more trading.' },
    { name: 'archived', type: 'boolean', doc: 'Hidden.' },
    closedAtMs,
    {
      name: 'negRisk',
      type: 'boolean',
      doc: 'Belongs to a mutually exclusive group; selects the signing contract.',
    },
    { name: 'negRiskMarketId', type: ['null', hash32], doc: 'The group.', default: null },
    { name: 'tick', type: 'int', doc: 'Tick size in 1/10000 USDC.' },
    { name: 'minSizeMicro', type: 'long', doc: 'Smallest order in micro-shares.' },
    { name: 'feeRateBps', type: 'int', doc: 'Taker fee rate in basis points of the curve.' },
    {
      name: 'nextFeeRateBps',
      type: 'int',
      doc: 'Taker fee rate that follows at `feeChangesAtMs`; -1 without a notice.',
      default: -1,
    },
    {
      name: 'feeChangesAtMs',
      type: 'long',
      doc: 'When the notice period of a higher fee ends, Unix milliseconds; 0 without one.',
      default: 0,
    },
    {
      name: 'rebateBps',
      type: 'int',
      doc: 'Part of the taker fee set aside for makers, basis points.',
    },
    {
      name: 'feeVersion',
      type: 'int',
      doc: 'Counts the changes of the two above, from 1.',
      default: 1,
    },
    {
      name: 'rewardsDailyMicro',
      type: 'long',
      doc: 'Liquidity rewards a day in micro-USDC; 0 when none.',
    },
    { name: 'rewardsMinSizeMicro', type: 'long', doc: 'Smallest order that earns them.' },
    {
      name: 'rewardsMaxSpread',
      type: 'int',
      doc: 'Farthest from the midpoint that earns them, 1/10000 USDC.',
    },
    { name: 'mode', type: marketMode, doc: 'What it takes.' },
    {
      name: 'takerDelayMs',
      type: 'int',
      doc: 'How long an order that would trade at once is held first, milliseconds; 0 is not at all.',
      default: 0,
    },
    {
      name: 'payout0',
      type: 'int',
      doc: 'After resolution what token 0 pays in 1/10000 USDC; -1 before.',
    },
    {
      name: 'askedPayout0',
      type: 'int',
      doc: 'What its resolution is to pay, written before its book is told; -1 when none was asked for.',
      default: -1,
    },
    {
      name: 'proposedPayout0',
      type: 'int',
      doc: 'What its proposed resolution pays for token 0 in 1/10000 USDC, also once carried out; -1 without one.',
      default: -1,
    },
    {
      name: 'paysAtMs',
      type: 'long',
      doc: 'When the challenge window of its newest proposal ends, Unix milliseconds; 0 without one.',
      default: 0,
    },
    {
      name: 'challengedAtMs',
      type: 'long',
      doc: 'When its newest proposal was challenged, Unix milliseconds; 0 when it was not.',
      default: 0,
    },
    {
      name: 'challenges',
      type: 'int',
      doc: 'How many proposals of its resolution were challenged.',
      default: 0,
    },
    { name: 'metadata', type: 'string', doc: 'Free JSON object as text, or empty.', default: '' },
    { name: 'partition', type: 'int', doc: 'Where its book lives.' },
    { name: 'epoch', type: 'int', doc: 'Grows when it moves.' },
    {
      name: 'listed',
      type: 'boolean',
      doc: 'False until its book has it: written before the book is told, so that no number in the log lacks its facts.',
      default: true,
    },
  ],
} as const satisfies AvroRecord;

export const catalogEntry = {
  type: 'oneOf',
  name: 'CatalogEntry',
  doc: 'Exactly one of its fields is set.',
  branches: [catalogMarket, catalogEvent, catalogTag, catalogSeries],
} as const;

export type CatalogEntry = Infer<typeof catalogEntry>;
export type CatalogMarket = Extract<CatalogEntry, { kind: 'CatalogMarket' }>;
export type CatalogEvent = Extract<CatalogEntry, { kind: 'CatalogEvent' }>;
export type CatalogTag = Extract<CatalogEntry, { kind: 'CatalogTag' }>;
export type CatalogSeries = Extract<CatalogEntry, { kind: 'CatalogSeries' }>;

/** The key under which an entry replaces its older version. */
export function catalogKey(
  entry: Pick<CatalogMarket, 'kind' | 'market'> | Exclude<CatalogEntry, CatalogMarket>,
): string {
  return entry.kind === 'CatalogMarket'
    ? `${entry.kind}:${entry.market}`
    : `${entry.kind}:${entry.id}`;
}
