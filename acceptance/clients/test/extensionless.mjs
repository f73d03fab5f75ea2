// polymarket-gamma is published with imports that lack their file endings, which bundlers forgive and Node does not.
import { register } from 'node:module';

const hook = `export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (error) {
    if (!context.parentURL?.includes('/polymarket-gamma/')) throw error;
    for (const ending of ['.js', '/index.js']) {
      try {
        return await next(specifier + ending, context);
      } catch {}
    }
    throw error;
  }
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
