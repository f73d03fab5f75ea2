/** Colours of a picture, by tag. */
const colours: Readonly<Record<string, readonly [from: string, to: string]>> = {
  sports: ['#166534', '#4ade80'],
  culture: ['#86198f', '#f0abfc'],
  politics: ['#1e3a8a', '#60a5fa'],
  weather: ['#0e7490', '#a5f3fc'],
  tech: ['#334155', '#94a3b8'],
  economics: ['#92400e', '#fbbf24'],
  finance: ['#065f46', '#6ee7b7'],
  geopolitics: ['#7f1d1d', '#f87171'],
  crypto: ['#9a3412', '#fdba74'],
  mentions: ['#4c1d95', '#c4b5fd'],
  other: ['#3f3f46', '#d4d4d8'],
};

/** Path of the pictures on the gateway; they are drawn here, so that they need no network and no licence. */
const picturesPath = '/demo/pictures';

export const pictureRoute = `${picturesPath}/:tag.svg`;

export function pictureUrl(baseUrl: string, tag: string): string {
  return `${baseUrl}${picturesPath}/${tag in colours ? tag : 'other'}.svg`;
}

/** A price line over the colours of a tag, as SVG; null for a tag without a picture. */
export function pictureOf(tag: string): string | null {
  const [from, to] = Object.hasOwn(colours, tag) ? (colours[tag] ?? []) : [];
  if (from === undefined || to === undefined) return null;
  const points = Array.from(
    { length: 9 },
    (_, index) => `${20 + index * 25},${heightAt(tag, index)}`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 240" role="img" aria-label="${tag}">
<defs><linearGradient id="g" x2="1" y2="1"><stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient></defs>
<rect width="240" height="240" fill="url(#g)"/>
<polyline points="${points.join(' ')}" fill="none" stroke="#fff" stroke-width="8" stroke-linecap="round" stroke-linejoin="round"/>
<text x="120" y="218" fill="#fff" font-family="sans-serif" font-size="28" text-anchor="middle">${tag}</text>
</svg>
`;
}

/** Between 50 and 169, another line for each tag. */
function heightAt(tag: string, index: number): number {
  const code = tag.charCodeAt(index % tag.length) * (index + 3) + tag.length * 17;
  return 50 + (code % 120);
}
