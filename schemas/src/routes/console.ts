import { Type } from 'typebox';
import { route } from './route.ts';

const base = {
  method: 'GET',
  service: 'query-api',
  family: 'clob',
  mounts: [],
  auth: ['none'],
  limits: ['description'],
} as const;

const page = { contentType: 'text/html; charset=utf-8', example: '<!doctype html>' } as const;
const script = { contentType: 'text/javascript; charset=utf-8', example: 'export {};' } as const;
const notBuilt = { 404: 'not found; the console may not be built here' } as const;

/** The console and the page of the API: static files that use the public routes like any other client. */
export const consoleRoutes = {
  getConsole: route({
    ...base,
    path: '/console/',
    summary: 'The console: markets, trading and the pipeline in a browser',
    description: 'Its policy allows nothing but its own files, the public routes and pictures.',
    responses: { 200: { description: 'A page that needs no other server.', text: page } },
    errors: notBuilt,
    examples: [{}],
  }),
  getConsoleAsset: route({
    ...base,
    path: '/console/assets/:file',
    summary: 'A file of the console',
    description: 'Names carry a hash of the content, so a file is cached for good.',
    params: Type.Object({
      file: Type.String({ description: 'Name with the hash of the content.' }),
    }),
    responses: { 200: { description: 'Script, style or picture.', text: script } },
    errors: notBuilt,
    examples: [{ params: { file: 'index-0a1b2c3d.js' } }],
  }),
  getDocs: route({
    ...base,
    path: '/docs',
    summary: 'A page that shows this description, with requests to try',
    description: 'It needs nothing from other servers.',
    responses: { 200: { description: 'The page.', text: page } },
    errors: notBuilt,
    examples: [{}],
  }),
  getDocsAsset: route({
    ...base,
    path: '/docs/:file',
    summary: 'A file of that page',
    params: Type.Object({ file: Type.String({ description: 'Name of the file.' }) }),
    responses: { 200: { description: 'Script or style.', text: script } },
    errors: notBuilt,
    examples: [{ params: { file: 'start.js' } }],
  }),
} as const;
