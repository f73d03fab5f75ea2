import { OperatorError } from '../http/error-bodies.ts';
import { ImportCatalog, ImportMarket, ImportResult } from '../http/operator.ts';
import {
  EntryResult,
  EventChange,
  MarketChange,
  NewEvent,
  SeriesChange,
  TagChange,
} from '../http/operator-catalog.ts';
import {
  CommentHidden,
  CommentHide,
  MarketModeResponse,
  MarketRules,
  MarketRulesResponse,
  ModeChange,
  OperatorCommentParams,
  OperatorEntryParams,
  Resolution,
  ResolutionResponse,
  TradingModeError,
  TradingModeResponse,
} from '../http/operator-responses.ts';
import { pendingApproval } from './operator-approvals.ts';
import { operatorRoute } from './route.ts';

const error = (description: string) => ({ description, schema: OperatorError });
const failures = {
  409: error('It does not go with what is listed or with what the matcher knows.'),
  503: error('Not done, or not confirmed: send the same again.'),
} as const;
const post = { method: 'POST', auth: ['operator'], role: 'catalog' } as const;
const made = {
  200: { description: 'The entry.', schema: EntryResult },
  ...failures,
} as const;
const entry = { ...post, responses: made } as const;
const change = {
  method: 'PATCH',
  auth: ['operator'],
  role: 'catalog',
  params: OperatorEntryParams,
  responses: { ...made, 404: error('There is no such entry.') },
} as const;
const ofMarket = { ...post, params: OperatorEntryParams } as const;
const unknownMarket = { 404: error('market not found'), ...failures } as const;
const imported = {
  200: { description: 'The number of changes, and the markets.', schema: ImportResult },
  404: error('event not found'),
  ...failures,
} as const;
const market = { slug: 'rain-monday', question: 'Rain on Monday?' } as const;
const result = (slug: string) => ({ id: '1', slug, changed: true });

/** Routes that change the catalog (operator.md). */
export const operatorCatalogRoutes = {
  importCatalog: operatorRoute({
    ...post,
    secondPerson: 'never',
    path: '/operator/catalog',
    summary: 'List events and markets, or change them',
    description:
      'The same again changes nothing. Nothing of a traded market is changed by which it pays or costs.',
    body: ImportCatalog,
    responses: imported,
    examples: [
      {
        body: {
          events: [
            { slug: 'rain-in-lisbon', title: 'Rain in Lisbon this week?', markets: [market] },
          ],
        },
      },
    ],
  }),
  addMarket: operatorRoute({
    ...post,
    secondPerson: 'never',
    path: '/operator/events/:id/markets',
    summary: 'List a market in an event',
    params: OperatorEntryParams,
    body: ImportMarket,
    responses: imported,
    examples: [{ params: { id: '1' }, body: market }],
  }),
  createEvent: operatorRoute({
    ...entry,
    secondPerson: 'never',
    path: '/operator/events',
    summary: 'Create an event without markets',
    body: NewEvent,
    examples: [{ body: { slug: 'snow', title: 'Snow in March?' }, response: result('snow') }],
  }),
  changeEvent: operatorRoute({
    ...change,
    secondPerson: 'traded',
    path: '/operator/events/:id',
    summary: 'Change an event',
    body: EventChange,
    responses: { ...change.responses, ...pendingApproval },
    examples: [{ params: { id: '1' }, body: { title: 'Snow in March 2027?' } }],
  }),
  changeMarket: operatorRoute({
    ...change,
    secondPerson: 'traded',
    path: '/operator/markets/:id',
    summary: 'Change the words and the visibility of a market',
    description: 'Question, outcomes and their order are final once it is traded.',
    body: MarketChange,
    responses: { ...change.responses, ...pendingApproval },
    examples: [{ params: { id: '1' }, body: { description: 'As the station says.' } }],
  }),
  createTag: operatorRoute({
    ...entry,
    secondPerson: 'never',
    path: '/operator/tags',
    summary: 'Create a tag',
    body: TagChange,
    examples: [{ body: { label: 'Big News' }, response: result('big-news') }],
  }),
  changeTag: operatorRoute({
    ...change,
    secondPerson: 'never',
    path: '/operator/tags/:id',
    summary: 'Change a tag',
    body: TagChange,
    examples: [{ params: { id: '7' }, body: { requiresTranslation: true } }],
  }),
  createSeries: operatorRoute({
    ...entry,
    secondPerson: 'never',
    path: '/operator/series',
    summary: 'Create a series',
    body: SeriesChange,
    examples: [{ body: { title: 'Winter', recurrence: 'yearly' }, response: result('winter') }],
  }),
  changeSeries: operatorRoute({
    ...change,
    secondPerson: 'never',
    path: '/operator/series/:id',
    summary: 'Change a series',
    body: SeriesChange,
    examples: [{ params: { id: '3' }, body: { active: false } }],
  }),
  hideComment: operatorRoute({
    ...post,
    secondPerson: 'never',
    path: '/operator/comments/:id/hide',
    summary: 'Hide a comment from readers, or show it again',
    params: OperatorCommentParams,
    body: CommentHide,
    responses: {
      200: { description: 'How it is now.', schema: CommentHidden },
      404: error('comment not found'),
    },
    examples: [{ params: { id: '1' }, body: { hidden: true } }],
  }),
  setMarketMode: operatorRoute({
    ...ofMarket,
    secondPerson: 'never',
    path: '/operator/markets/:id/mode',
    summary: 'Set what a market takes',
    body: ModeChange,
    responses: { 200: { description: 'The mode.', schema: MarketModeResponse }, ...unknownMarket },
    examples: [
      { params: { id: '1' }, body: { mode: 'HALTED' }, response: { id: '1', mode: 'HALTED' } },
    ],
  }),
  resolveMarket: operatorRoute({
    ...ofMarket,
    role: 'resolver',
    secondPerson: 'always',
    path: '/operator/markets/:id/resolve',
    summary: 'End trading and fix what the tokens pay',
    description:
      'Where a challenge window is configured, it is carried out at the end of the window.',
    body: Resolution,
    responses: {
      200: { description: 'The payout.', schema: ResolutionResponse },
      ...pendingApproval,
      ...unknownMarket,
    },
    examples: [
      { params: { id: '1' }, body: { payout0: '1' }, response: { id: '1', payout0: '1' } },
    ],
  }),
  setMarketRules: operatorRoute({
    ...ofMarket,
    method: 'PUT',
    secondPerson: 'traded',
    path: '/operator/markets/:id/rules',
    summary: 'Change rules of a market',
    description:
      'A higher fee of a traded market begins at the end of a notice period (`feeChangesAt`); a lower one at once.',
    body: MarketRules,
    responses: {
      200: { description: 'All rules.', schema: MarketRulesResponse },
      ...pendingApproval,
      ...unknownMarket,
    },
    examples: [{ params: { id: '1' }, body: { tickSize: '0.001' } }],
  }),
  setTradingMode: operatorRoute({
    ...post,
    role: 'admin',
    secondPerson: 'never',
    path: '/operator/trading-mode',
    summary: 'Set what all markets take at most',
    body: ModeChange,
    responses: {
      200: { description: 'Set in every partition.', schema: TradingModeResponse },
      409: { description: 'Partitions that refused.', schema: TradingModeError },
      503: { description: 'Partitions that have not answered.', schema: TradingModeError },
    },
    examples: [{ body: { mode: 'OPEN' } }],
  }),
} as const;
