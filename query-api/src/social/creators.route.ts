import { QueryReader } from '@pm/domain/reading/query-reader';
import { refusals } from '@pm/domain/reading/refusal';
import type { HttpHandler } from '@pm/kit/http';
import { readRoute } from '../http/read-route.io.ts';
import { type CatalogParts, listContext } from '../markets/catalog-responses.io.ts';
import { readSpan } from '../markets/list-query.ts';
import { creatorAnswer, creatorWallets } from './creators.ts';

const columns = { names: ['id'] };

/** Creators of markets that are listed: wallets, by name of their site where one is known. */
export function creatorRoutes(parts: CatalogParts): readonly HttpHandler[] {
  const { catalog, sites } = parts;
  const answerOf = (wallet: string) => creatorAnswer(catalog, wallet, sites);
  return [
    readRoute(
      { method: 'GET', path: '/events/creators', family: 'gamma' },
      ({ query, dialect }) => {
        const read = new QueryReader(query, 'gamma');
        const { limit, offset, ascending } = readSpan(read, columns, listContext(parts, dialect));
        if (read.refusal !== null) return read.refusal;
        const wallets = [...catalog.creators()].sort();
        const sorted = ascending ? wallets : wallets.reverse();
        return sorted.slice(offset, offset + limit).map(answerOf);
      },
    ),
    readRoute({ method: 'GET', path: '/events/creators/:id', family: 'gamma' }, ({ params }) => {
      const wanted = creatorWallets(params['id'] ?? '', sites);
      const wallet = catalog.creators().find((one) => wanted.includes(one));
      return wallet === undefined ? refusals.idNotFound : answerOf(wallet);
    }),
  ];
}
