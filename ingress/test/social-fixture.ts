import type { CommentEvent, Profile } from '@pm/schemas';
import type { CatalogIndex } from '../src/core/catalog-index.ts';
import { CommentStore } from '../src/io/comment-store.ts';
import { ProfileStore } from '../src/io/profile-store.ts';

/** Comments and profiles over topics in memory; `said` is what stands on them. */
export function openSocial(listed: CatalogIndex, clock: { nowMs(): number }) {
  const said = { comments: [] as CommentEvent[], profiles: [] as Profile[] };
  const comments = new CommentStore({
    async append(event) {
      const offset = said.comments.push(event) - 1;
      comments.take(event, offset);
      return offset;
    },
  });
  const profiles = new ProfileStore({
    clock,
    async append(_wallet, profile) {
      said.profiles.push(profile);
    },
  });
  return { comments, profiles, listed, said };
}
