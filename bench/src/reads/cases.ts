import { tokensPerRequestMax } from '@pm/schemas';

/** One read that is measured. */
export interface ReadCase {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  /** For a batch: how many tokens it asks for, and the case that asks for one of them. */
  readonly batch?: { readonly tokens: number; readonly single: string };
}

const few = 20;
const batches = [
  ['/books', 'GET /book'],
  ['/prices', 'GET /price'],
  ['/midpoints', 'GET /midpoint'],
  ['/spreads', 'GET /spread'],
] as const;

/** The read whose ratio has a target. */
export const bookCase = 'GET /book';

/**
 * The reads of market data and of the catalog. `deep` is a token with many levels, `quoted` are tokens with a bid and
 * an ask, as many as a batch may have.
 */
export function readCases(deep: string, quoted: readonly string[]): readonly ReadCase[] {
  const get = (name: string, path: string): ReadCase => ({ name, method: 'GET', path });
  const [one = ''] = quoted;
  const batch = (path: string, single: string, tokens: number): ReadCase => ({
    name: `POST ${path}, ${tokens} tokens`,
    method: 'POST',
    path,
    body: JSON.stringify(quoted.slice(0, tokens).map((token) => ({ token_id: token }))),
    batch: { tokens, single },
  });
  return [
    get(bookCase, `/book?token_id=${deep}`),
    get('GET /midpoint', `/midpoint?token_id=${one}`),
    get('GET /price', `/price?token_id=${one}&side=BUY`),
    get('GET /spread', `/spread?token_id=${one}`),
    ...batches.flatMap(([path, single]) =>
      [few, tokensPerRequestMax].map((tokens) => batch(path, single, tokens)),
    ),
    get('GET /prices-history', `/prices-history?market=${one}&interval=1d`),
    get('GET /markets', '/markets?limit=100&closed=false&tag_slug=bench&order=volume'),
  ];
}
