import type { CatalogTag } from '@pm/schemas';
import type { Catalog } from './catalog.ts';

const relatedMax = 100;

/** Tags that stand on events together with this one, those on the most events first. */
export function relatedTags(
  catalog: Catalog,
  { id }: CatalogTag,
): readonly { readonly rank: number; readonly other: CatalogTag }[] {
  return [...catalog.relatedTags(id)]
    .sort(([left, much], [right, more]) => more - much || Number(left) - Number(right))
    .flatMap(([otherId]) => catalog.tag(otherId) ?? [])
    .slice(0, relatedMax)
    .map((other, index) => ({ rank: index + 1, other }));
}
