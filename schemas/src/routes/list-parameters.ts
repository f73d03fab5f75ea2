import { Type } from 'typebox';
import { resolutionStatuses } from '../http/catalog.ts';
import {
  catalogId,
  cursorParameters,
  listOf,
  optional,
  shortText,
  time,
  truth,
  wholeNumber,
} from './parameters.ts';
import { wholeNumberForms } from './whole-number.ts';

/** Parameters that lists of the catalog share (conventions.md 5.6 and 5.7). */
const limit = optional(
  wholeNumber({ min: 1, max: 100 }, 'Rows; 20 by default, and to 500 under `/gamma`. '),
);
const ascending = optional(truth('Descending by default.'));

/** Columns that lists are sorted by at the root; the mounts know further spellings. */
const dates = [
  'startDate',
  'endDate',
  'creationDate',
  'createdAt',
  'updatedAt',
  'closedTime',
] as const;
const volumes = ['volume', 'volume24hr', 'volume1wk', 'volume1mo', 'volume1yr'] as const;
const figures = [...volumes, 'liquidity'] as const;
const changes = ['oneDayPriceChange', 'oneWeekPriceChange', 'oneMonthPriceChange'] as const;
const moves = ['competitive', ...changes] as const;
const names = ['id', 'ticker', 'slug', 'title'] as const;
const rewards = ['rewardsMinSize', 'rewardsMaxSpread'] as const;
export const columns = {
  events: [...names, ...dates, ...figures],
  markets: [...names, 'question', ...dates, ...rewards, ...figures, ...moves],
  tags: ['id', 'slug', 'label', 'createdAt', 'updatedAt'],
  series: ['id', 'ticker', 'slug', 'title', 'createdAt', 'updatedAt'],
  creators: ['id'],
} as const;

/** A list by offset. */
export function listParameters<const C extends readonly string[]>(of: readonly [...C]) {
  return {
    limit,
    offset: optional(wholeNumber({}, 'Rows before the page. ')),
    order: optional(
      listOf(Type.Enum([...of]), 4, 'Columns, `id` by default; ties go on to the next.'),
    ),
    ascending,
  };
}

/** The cursor of a keyset list: it may hold a long title. */
export const keysetCursor = cursorParameters({ maxLength: 4_500 });

/** A list by cursor: of one column. */
export function keysetParameters<const C extends readonly string[]>(of: readonly [...C]) {
  return {
    limit,
    ...keysetCursor,
    order: optional(Type.Enum([...of], { description: 'A column, `id` by default.' })),
    ascending,
  };
}

export const stateParameters = {
  active: optional(truth('Only such.')),
  closed: optional(truth('Only such.')),
  archived: optional(truth('Only such.')),
};
export const tagParameters = {
  tag_id: optional(catalogId),
  tag_slug: optional(shortText('Slug of a tag.')),
  tag: optional(shortText('The same.')),
};
export const creator = {
  creator: optional(shortText('A wallet or a site: only what it made.')),
};

const resolutionStatus = (description: string) =>
  optional(listOf(Type.Enum([...resolutionStatuses]), resolutionStatuses.length, description));

/** Micro-units are safe integers. */
const amountPattern = `^(${wholeNumberForms(0, 9_007_199_253)})(\\.[0-9]{1,6})?$`;

const amount = (description: string) =>
  optional(
    Type.String({
      pattern: amountPattern,
      description: `${description} USDC, included.`,
    }),
  );
export const rangeParameters = {
  volume_min: amount('At least.'),
  volume_max: amount('At most.'),
  liquidity_min: amount('At least.'),
  liquidity_max: amount('At most.'),
  start_date_min: optional(time('Included.')),
  start_date_max: optional(time('Included.')),
  end_date_min: optional(time('Included.')),
  end_date_max: optional(time('Included.')),
};
export const resolutionParameters = {
  uma_resolution_status: resolutionStatus(
    'Only markets whose resolution is in one of these states.',
  ),
  uma_resolution_statuses: resolutionStatus('As `uma_resolution_status`; both have to hold.'),
};
export const numericRangeParameters = {
  rewards_min_size: optional(
    Type.String({
      pattern: amountPattern,
      description: 'Shares: the smallest order with rewards is at least this large.',
    }),
  ),
  volume_num_min: amount('The other spelling.'),
  volume_num_max: amount('The other spelling.'),
  liquidity_num_min: amount('The other spelling.'),
  liquidity_num_max: amount('The other spelling.'),
};
