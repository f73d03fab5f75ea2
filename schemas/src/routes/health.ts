import {
  OkResponse,
  OpenApiDocument,
  RootResponse,
  ServerTime,
  SigningDomainResponse,
  StatusResponse,
  VersionResponse,
} from '../http/health.ts';
import { route } from './route.ts';

const base = { method: 'GET', service: 'ingress', family: 'clob', auth: ['none'] } as const;
const textOk = { contentType: 'text/plain; charset=utf-8', example: 'OK' } as const;

/** Health, time and version (conventions.md 1.6), completeness (1.16). */
export const healthRoutes = {
  getRoot: route({
    ...base,
    path: '/',
    mounts: ['clob', 'data'],
    limits: ['health'],
    summary: 'Whether the exchange answers',
    description:
      'Text; JSON for `Accept: application/json` and under `/data-api`. A browser is sent to the console.',
    responses: {
      200: { description: 'It answers.', schema: RootResponse, text: textOk },
      302: {
        description: 'To `/console/`: the request accepts `text/html`, at the root.',
        text: { contentType: 'text/plain; charset=utf-8', example: '' },
      },
    },
    examples: [{}],
  }),
  getOk: route({
    ...base,
    path: '/ok',
    summary: 'Whether the exchange answers, as JSON',
    responses: { 200: { description: 'It answers.', schema: OkResponse } },
    examples: [{}],
  }),
  getTime: route({
    ...base,
    path: '/time',
    summary: 'The time of the server, for signatures',
    responses: { 200: { description: 'A bare integer.', schema: ServerTime } },
    examples: [{}],
  }),
  getVersion: route({
    ...base,
    path: '/version',
    summary: 'The version of the order struct that is signed',
    responses: { 200: { description: 'The version.', schema: VersionResponse } },
    examples: [{}],
  }),
  getSigningDomain: route({
    ...base,
    path: '/signing-domain',
    summary: 'The EIP-712 domain of this installation',
    description:
      'Orders and wallet proofs are signed for it (conventions.md 3.2). It never changes unless an operator configures another one: keep what you got first, and sign nothing for another one unseen.',
    responses: { 200: { description: 'The domain.', schema: SigningDomainResponse } },
    examples: [{}],
  }),
  getStatus: route({
    ...base,
    path: '/status',
    service: 'query-api',
    family: 'gamma',
    mounts: ['clob', 'gamma', 'data'],
    summary: 'How far each projection is complete',
    description: 'Under the mounts the text `OK`.',
    responses: {
      200: {
        description: 'Each projection and its partitions.',
        schema: StatusResponse,
        text: textOk,
      },
    },
    examples: [{}],
  }),
} as const;

/** This description of the API. */
export const descriptionRoutes = {
  getOpenApi: route({
    ...base,
    path: '/openapi.json',
    service: 'query-api',
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
} as const;
