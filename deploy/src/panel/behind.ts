/** A part of the answer of GET /status. */
export interface ProjectionLine {
  readonly projection: string;
  /** False while its store does not answer. */
  readonly known: boolean;
  /** Records that the projection has not taken in. */
  readonly partitions: readonly { readonly lag: number }[];
}

/** How many records each projection is behind the log; `?` where that is not known. */
export function lagText(projections: readonly ProjectionLine[]): string {
  const texts = projections.map(({ projection, known, partitions }) => {
    const records = partitions.reduce((sum, { lag }) => sum + lag, 0);
    return `${projection} ${known ? records : '?'}`;
  });
  return `records behind: ${texts.length === 0 ? '?' : texts.join(', ')}`;
}
