/** The files that the page itself loads, as its text names them: what a browser needs for the first view. */
export function filesOfPage(page: string): readonly string[] {
  const named = [...page.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+)"/g)];
  return [...new Set(['index.html', ...named.map(([, file]) => file ?? '')])];
}
