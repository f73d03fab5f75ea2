/** Ids of events, series and tags are digits; null for any other text. */
export function parseCatalogId(text: string): string | null {
  return /^\d{1,15}$/.test(text) ? text : null;
}
