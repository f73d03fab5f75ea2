export { asyncApiDocument } from './asyncapi.ts';
export { openApiDocument, operatorApiDocument } from './document.ts';
export { streamDescription } from './streams.ts';
