import {
  OkAnswer,
  OpenApiDocument,
  RootAnswer,
  ServerTime,
  SigningDomainAnswer,
  StatusAnswer,
  VersionAnswer,
} from '../http/health.ts';
import { route } from './route.ts';

const door = { method: 'GET', door: 'ingress', family: 'clob', auth: ['none'] } as const;
const textOk = { contentType: 'text/plain; charset=utf-8', example: 'OK' } as const;

/** Health, time and version (conventions.md 1.6), completeness (1.16). */
export const healthRoutes = {
  getRoot: route({
    ...door,
    path: '/',
    mounts: ['clob', 'data'],
    limits: ['health'],
    summary: 'Whether the exchange answers',
    description:
      'Text; JSON for `Accept: application/json` and under `/data-api`. A browser is sent to the console.',
    responses: {
      200: { description: 'It answers.', schema: RootAnswer, text: textOk },
      302: {
        description: 'To `/console/`: the request accepts `text/html`, at the root.',
        text: { contentType: 'text/plain; charset=utf-8', example: '' },
      },
    },
    examples: [{}],
  }),
  getOk: route({
    ...door,
    path: '/ok',
    summary: 'Whether the exchange answers, as JSON',
    responses: { 200: { description: 'It answers.', schema: OkAnswer } },
    examples: [{}],
  }),
  getTime: route({
    ...door,
    path: '/time',
    summary: 'The time of the server, for signatures',
    responses: { 200: { description: 'A bare integer.', schema: ServerTime } },
    examples: [{}],
  }),
  getVersion: route({
    ...door,
    path: '/version',
    summary: 'The version of the order struct that is signed',
    responses: { 200: { description: 'The version.', schema: VersionAnswer } },
    examples: [{}],
  }),
  getSigningDomain: route({
    ...door,
    path: '/signing-domain',
    summary: 'The EIP-712 domain of this installation',
    description:
      'Orders and wallet proofs are signed for it (conventions.md 3.2). It never changes unless an operator configures another one: keep what you got first, and sign nothing for another one unseen.',
    responses: { 200: { description: 'The domain.', schema: SigningDomainAnswer } },
    examples: [{}],
  }),
  getStatus: route({
    ...door,
    path: '/status',
    door: 'query-api',
    family: 'gamma',
    mounts: ['clob', 'gamma', 'data'],
    summary: 'How far each projection is complete',
    description: 'Under the mounts the text `OK`.',
    responses: {
      200: {
        description: 'Each projection and its partitions.',
        schema: StatusAnswer,
        text: textOk,
      },
    },
    examples: [{}],
  }),
} as const;

/** This description of the API, and a page to read it. */
export const descriptionRoutes = {
  getOpenApi: route({
    ...door,
    path: '/openapi.json',
    door: 'query-api',
    mounts: [],
    limits: ['description'],
    summary: 'This description of the API',
    responses: { 200: { description: 'OpenAPI 3.1.', schema: OpenApiDocument } },
    examples: [
      {
        response: { openapi: '3.1.0', info: {}, servers: [], tags: [], paths: {}, components: {} },
      },
    ],
  }),
  getDocs: route({
    ...door,
    path: '/docs',
    door: 'query-api',
    mounts: [],
    limits: ['description'],
    summary: 'A page that shows this description',
    responses: {
      200: {
        description: 'A page that needs nothing from other servers.',
        text: { contentType: 'text/html; charset=utf-8', example: '<!doctype html>' },
      },
    },
    examples: [{}],
  }),
} as const;
