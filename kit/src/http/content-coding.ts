export type ContentCoding = 'br' | 'gzip';

/** In the order in which they are chosen where a client likes both alike. */
const codings: readonly ContentCoding[] = ['br', 'gzip'];

/** How a client wants a body compressed (RFC 9110 12.5.3); null: not at all. */
export function contentCodingFor(acceptEncoding: string | undefined): ContentCoding | null {
  if (acceptEncoding === undefined) return null;
  const weights = new Map(acceptEncoding.split(',').map(weightOf));
  const weight = (coding: ContentCoding) => weights.get(coding) ?? weights.get('*') ?? 0;
  const [best = 'gzip'] = codings.toSorted((left, right) => weight(right) - weight(left));
  return weight(best) > 0 ? best : null;
}

function weightOf(one: string): readonly [name: string, weight: number] {
  const [name = '', ...parameters] = one
    .trim()
    .toLowerCase()
    .split(/\s*;\s*/);
  const q = parameters.find((parameter) => parameter.startsWith('q='));
  const weight = q === undefined ? 1 : Number(q.slice('q='.length));
  return [name, weight >= 0 && weight <= 1 ? weight : 0];
}
