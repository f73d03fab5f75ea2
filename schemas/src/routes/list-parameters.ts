import { Type } from 'typebox';
import { catalogId, listOf, optional, shortText, time, truth, wholeNumber } from './parameters.ts';

/** Parameters that lists of the catalog share (conventions.md 1.10 and 6.5). */
const limit = optional(
  wholeNumber(
    { min: 1, max: 500 },
    'Rows, to 100 at the root and to 500 under `/gamma`; 20 by default. ',
  ),
);
const order = optional(
  listOf(shortText('Column.'), 4, 'Columns, `id` by default; ties go on to the next.'),
);
const ascending = optional(truth('Descending by default.'));

export const listParameters = {
  limit,
  offset: optional(wholeNumber({}, 'Rows before the page. ')),
  order,
  ascending,
};
export const keysetParameters = {
  limit,
  after_cursor: optional(
    Type.String({ maxLength: 4_500, description: 'The `next_cursor` of the page before.' }),
  ),
  order: optional(shortText('One column, `id` by default.')),
  ascending,
};

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

const amount = (description: string) =>
  optional(
    Type.String({
      pattern: '^(0|[1-9][0-9]{0,15})(\\.[0-9]{1,6})?$',
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
export const numericRangeParameters = {
  volume_num_min: amount('The other spelling.'),
  volume_num_max: amount('The other spelling.'),
  liquidity_num_min: amount('The other spelling.'),
  liquidity_num_max: amount('The other spelling.'),
};
