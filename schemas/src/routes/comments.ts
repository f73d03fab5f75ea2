import { Type } from 'typebox';
import {
  CommentCount,
  CommentList,
  CommentPage,
  ProfileResponse,
  ProfileStored,
} from '../http/comment-responses.ts';
import {
  CommentBody,
  CommentWritten,
  commentOrders,
  ProfileBody,
  ReactionBody,
  ReportBody,
} from '../http/comments.ts';
import { address, sample } from '../http/forms.ts';
import { keysetCursor } from './list-parameters.ts';
import { listOf, oneOf, optional, pathOf, shortText, truth, wholeNumber } from './parameters.ts';
import { route } from './route.ts';

const write = { service: 'ingress', family: 'gamma', auth: ['l2'] } as const;
const read = { method: 'GET', service: 'query-api', family: 'gamma', auth: ['none'] } as const;
const written = {
  200: { description: 'The comment it is about.', schema: CommentWritten },
} as const;
const notFound = { 404: 'comment not found' } as const;
const invalid = { 400: 'invalid comment: {detail}' } as const;
const ofComment = {
  ...write,
  params: Type.Object({ id: Type.String({ description: 'Id of a comment.' }) }),
  responses: written,
  examples: [{ params: { id: '1' }, response: { id: '1', status: 'ok' } }],
} as const;

const limit = optional(
  wholeNumber({ min: 1, max: 100 }, '20 by default, and to 500 under `/gamma`. '),
);
const ascending = optional(truth('Newest first by default.'));
const getPositions = optional(truth('Positions of authors, under `/gamma`.'));
const page = {
  limit,
  offset: optional(wholeNumber({}, 'Rows before the page. ')),
  order: optional(
    listOf(Type.Enum([...commentOrders]), commentOrders.length, '`createdAt` by default.'),
  ),
  ascending,
  get_positions: getPositions,
};
const parent = {
  parent_entity_type: optional(oneOf(['Event', 'Series', 'market'], '`Event` by default.')),
  parent_entity_id: optional(shortText('Its number; of a market also its condition id.')),
  event_slug: optional(shortText('An event by slug instead.')),
  holders_only: optional(truth('Authors hold a token of the parent now.')),
};
const listErrors = {
  400: 'parent_entity_id or event_slug is required; invalid {name}',
  404: 'event not found; series not found; market not found',
} as const;
const ofEvent = [{ query: { parent_entity_id: '1' } }] as const;
const counted = {
  ...read,
  params: pathOf.catalogId,
  summary: 'The number of comments and replies',
  responses: { 200: { description: 'The number.', schema: CommentCount } },
  errors: { 400: 'id must be an integer', 404: 'id not found' },
} as const;
const profile = {
  200: { description: 'How the wallet is shown.', schema: ProfileResponse },
} as const;

/** Comments and profiles, written (conventions.md 7.1). */
const writes = {
  createComment: route({
    ...write,
    method: 'POST',
    path: '/comments',
    repetition: 'refused',
    summary: 'Comment on an event, a series or a market, or reply',
    body: CommentBody,
    responses: written,
    errors: { ...invalid, ...notFound },
    examples: [
      {
        body: { parent_entity_type: 'Event', parent_entity_id: 1, body: 'It rained all night.' },
        response: { id: '1', status: 'ok' },
      },
    ],
  }),
  deleteComment: route({
    ...ofComment,
    method: 'DELETE',
    path: '/comments/:id',
    repetition: 'harmless',
    summary: 'Delete an own comment, and its replies',
    errors: { ...notFound, 403: 'only its author may change it' },
  }),
  likeComment: route({
    ...ofComment,
    method: 'POST',
    path: '/comments/:id/reactions',
    repetition: 'brief',
    summary: 'Like a comment',
    body: ReactionBody,
    bodyIsOptional: true,
    errors: { ...invalid, ...notFound },
  }),
  unlikeComment: route({
    ...ofComment,
    method: 'DELETE',
    path: '/comments/:id/reactions',
    repetition: 'brief',
    summary: 'Take a like back',
    errors: notFound,
  }),
  reportComment: route({
    ...ofComment,
    method: 'POST',
    path: '/comments/:id/reports',
    repetition: 'harmless',
    summary: 'Report a comment',
    body: ReportBody,
    bodyIsOptional: true,
    errors: { ...invalid, ...notFound },
  }),
  setProfile: route({
    ...write,
    method: 'PUT',
    path: '/profile',
    repetition: 'brief',
    summary: 'Set how the wallet is shown',
    description: 'The body is the whole profile; what is absent becomes empty.',
    body: ProfileBody,
    responses: { 200: { description: 'The profile.', schema: ProfileStored } },
    errors: { 400: 'invalid profile: {detail}' },
    examples: [{ body: { name: 'Ada', bio: 'Weather only.' } }],
  }),
} as const;

/** Comments and profiles (conventions.md 7.1 and 7.2). */
export const commentRoutes = {
  ...writes,
  listComments: route({
    ...read,
    path: '/comments',
    summary: 'Comments on an event, a series or a market',
    query: Type.Object({ ...parent, ...page }),
    responses: { 200: { description: 'A page, with replies inside.', schema: CommentList } },
    errors: listErrors,
    examples: ofEvent,
  }),
  listCommentsByCursor: route({
    ...read,
    path: '/comments/keyset',
    summary: 'The same, with a cursor that stays in place',
    query: Type.Object({
      ...parent,
      limit,
      ...keysetCursor,
      order: optional(oneOf(commentOrders, '`createdAt` by default.')),
      ascending,
      get_positions: getPositions,
    }),
    responses: { 200: { description: 'A page, with replies inside.', schema: CommentPage } },
    errors: listErrors,
    examples: ofEvent,
  }),
  getComment: route({
    ...read,
    path: '/comments/:id',
    summary: 'A comment and all below it, as a list',
    params: pathOf.catalogId,
    query: Type.Object({ get_positions: getPositions }),
    responses: { 200: { description: 'Comments.', schema: CommentList } },
    errors: { 400: 'id must be an integer; invalid get_positions', ...notFound },
    examples: [{ params: { id: '1' } }],
  }),
  listCommentsOfUser: route({
    ...read,
    path: '/comments/user_address/:user_address',
    summary: 'Comments that a wallet wrote, newest first',
    params: pathOf.user,
    query: Type.Object(page),
    responses: { 200: { description: 'A page.', schema: CommentList } },
    errors: { 400: 'user_address is not an address; invalid {name}' },
    examples: [{ params: { user_address: sample.wallet } }],
  }),
  countCommentsOfEvent: route({
    ...counted,
    path: '/events/:id/comments/count',
    examples: [{ params: { id: '1' } }],
  }),
  countCommentsOfSeries: route({
    ...counted,
    path: '/series/:id/comments/count',
    examples: [{ params: { id: '3' } }],
  }),
  getProfile: route({
    ...read,
    path: '/public-profile',
    summary: 'How a wallet is shown',
    description: 'One that set nothing has a pseudonym that follows from its address.',
    query: Type.Object({ address }),
    responses: profile,
    errors: { 400: 'address is required; address is not an address' },
    examples: [{ query: { address: sample.wallet } }],
  }),
  getProfileOf: route({
    ...read,
    path: '/profiles/user_address/:user_address',
    summary: 'The same by path',
    params: pathOf.user,
    responses: profile,
    errors: { 400: 'user_address is not an address' },
    examples: [{ params: { user_address: sample.wallet } }],
  }),
} as const;
