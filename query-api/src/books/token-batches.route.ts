import type { DoorRoute } from '@pm/kit/http';
import type { ReadPorts } from '../door/ports.ts';
import { type ReadRequest, readRoute } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import type { Quotes } from './displayed-price.ts';
import { type ListedItem, listedItems, readTokenItems, readTokenLists } from './tokens.ts';

/** What a batch is answered from. */
export interface QuotedBatch extends Pick<ReadRequest, 'dialect'> {
  /** The items that are listed, in the order asked, as often as they were asked for. */
  readonly listed: readonly ListedItem[];
  readonly quotes: Quotes;
}

/**
 * What is told of many tokens at once, by body (`[{"token_id", "side"?}]`) and by query (`token_ids`, `sides`); at most 500,
 * tokens that are not listed left out (conventions.md 1.3).
 */
export function tokenBatchRoutes(
  { books, catalog }: Pick<ReadPorts, 'books' | 'catalog'>,
  path: string,
  answer: (batch: QuotedBatch) => object,
): readonly DoorRoute[] {
  const answerFor = async (request: ReadRequest, items: ReturnType<typeof readTokenItems>) => {
    if (items instanceof ReadRefusal) return items;
    const listed = listedItems(catalog, items);
    const quotes = await books.quotes(listed.map(({ listing }) => listing));
    return answer({ listed, quotes, dialect: request.dialect });
  };
  return [
    readRoute({ method: 'GET', path, family: 'clob' }, (request) =>
      answerFor(request, readTokenLists(request.query)),
    ),
    readRoute({ method: 'POST', path, family: 'clob' }, (request) =>
      answerFor(request, readTokenItems(request.body)),
    ),
  ];
}
