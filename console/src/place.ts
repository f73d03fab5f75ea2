/** Where the page is: the part of the address after `#`. */
export interface Place {
  readonly page: 'markets' | 'event' | 'portfolio' | 'leaderboard' | 'pipeline';
  /** Slug of the event. */
  readonly slug: string;
  /** Condition of the market; empty for the first of the event. */
  readonly condition: string;
}

export function placeOf(hash: string): Place {
  const [page = '', slug = '', condition = ''] = hash.replace(/^#\/?/, '').split('/');
  if (page === 'event' && slug !== '') {
    const decoded = decodedPart(slug);
    if (decoded !== null) return { page, slug: decoded, condition };
  }
  const found = (['portfolio', 'leaderboard', 'pipeline'] as const).find((name) => name === page);
  return { page: found ?? 'markets', slug: '', condition: '' };
}

export function eventHref(slug: string, condition = ''): string {
  const rest = condition === '' ? '' : `/${condition}`;
  return `#/event/${encodeURIComponent(slug)}${rest}`;
}

/** Null for a text that no address holds. */
function decodedPart(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
