import { asyncApiDocument, openApiDocument, operatorApiDocument } from '@pm/kit/openapi';

/**
 * Descriptions of the API over HTTP that the repository keeps, by file: written by `npm run docs`, compared with the
 * last release.
 */
export const openApiFiles = {
  'docs/openapi.json': () => textOf(openApiDocument()),
  'docs/operator-openapi.json': () => textOf(operatorApiDocument()),
} as const;

/** The description of the streams, written by `npm run docs` too. */
export const asyncApiFile = {
  path: 'docs/asyncapi.json',
  text: () => textOf(asyncApiDocument()),
} as const;

function textOf(document: object): string {
  return `${JSON.stringify(document, null, 1)}\n`;
}
