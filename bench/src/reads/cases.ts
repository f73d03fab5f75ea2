import { tokensPerRequestMax } from '@pm/schemas/http/reading';

/** One read that is measured. */
export interface ReadCase {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  /** Sent in turn over all connections in place of `body`, with answers of the same length. */
  readonly bodies?: readonly string[];
  /** For a batch: how many tokens it asks for, and the case that asks for one of them. */
  readonly batch?: { readonly tokens: number; readonly single: string };
}

const few = 20;
const batches = [
  ['/books', 'GET /book'],
  ['/prices', 'GET /price'],
  ['/midpoints', 'GET /midpoint'],
  ['/spreads', 'GET /spread'],
  ['/last-trades-prices', 'GET /last-trade-price'],
] as const;
/** Batches that are asked for in bodies that differ, too: what is kept of equal bodies must not be all there is. */
const differing = ['/books', '/midpoints'] as const;
/** Characters of bodies that differ: several times what the memory of bodies holds, so that none is found there. */
const differingChars = 8 << 20;

/** The read whose ratio has a target. */
export const bookCase = 'GET /book';

/** Tokens and the market that the reads request. */
export interface ReadTargets {
  /** A token with many levels. */
  readonly deep: string;
  /** Tokens with a bid, an ask and a trade, as many as a batch may have. */
  readonly quoted: readonly string[];
  /** The market that many wallets hold a token of. */
  readonly held: string;
}

/** The reads of market data, of holders and of the catalog. */
export function readCases({ deep, quoted, held }: ReadTargets): readonly ReadCase[] {
  const get = (name: string, path: string): ReadCase => ({ name, method: 'GET', path });
  const [one = ''] = quoted;
  const some = quoted.slice(0, few);
  const markets = JSON.stringify({ markets: some, interval: '1d' });
  return [
    get(bookCase, `/book?token_id=${deep}`),
    get('GET /midpoint', `/midpoint?token_id=${one}`),
    get('GET /price', `/price?token_id=${one}&side=BUY`),
    get('GET /spread', `/spread?token_id=${one}`),
    get('GET /last-trade-price', `/last-trade-price?token_id=${one}`),
    ...batches.flatMap(([path, single]) =>
      [few, tokensPerRequestMax].map((tokens) => batchCase(path, single, quoted.slice(0, tokens))),
    ),
    ...differing.flatMap((path) =>
      [few, tokensPerRequestMax].map((tokens) => differingCase(path, quoted.slice(0, tokens))),
    ),
    get(`GET /midpoints, ${few} tokens`, `/midpoints?token_ids=${some.join()}`),
    get('GET /prices-history', `/prices-history?market=${one}&interval=1d`),
    {
      name: `POST /batch-prices-history, ${few} tokens`,
      method: 'POST',
      path: '/batch-prices-history',
      body: markets,
    },
    get('GET /holders', `/holders?market=${held}`),
    get('GET /holders, limit 5', `/holders?market=${held}&limit=5`),
    get('GET /markets', '/markets?limit=100&closed=false&tag_slug=bench&order=volume'),
  ];
}

function batchCase(path: string, single: string, tokens: readonly string[]): ReadCase {
  return {
    name: `POST ${path}, ${tokens.length} tokens`,
    method: 'POST',
    path,
    body: bodyOf(tokens),
    batch: { tokens: tokens.length, single },
  };
}

/** A read whose bodies have the same tokens in different orders and with different blanks. */
function differingCase(path: string, tokens: readonly string[]): ReadCase {
  const count = Math.ceil(differingChars / bodyOf(tokens).length);
  const bodies = Array.from({ length: count }, (_, index) => {
    const first = index % tokens.length;
    const turned = [...tokens.slice(first), ...tokens.slice(0, first)];
    return bodyOf(turned) + ' '.repeat(Math.floor(index / tokens.length));
  });
  const name = `POST ${path}, ${tokens.length} tokens, bodies that differ`;
  return { name, method: 'POST', path, body: bodyOf(tokens), bodies };
}

function bodyOf(tokens: readonly string[]): string {
  return JSON.stringify(tokens.map((token) => ({ token_id: token })));
}
