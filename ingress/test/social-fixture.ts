import type { CommentEvent, Profile } from '@pm/schemas';
import type { CatalogIndex } from '../src/catalog/catalog-index.ts';
import { CommentStore } from '../src/social/comments.io.ts';
import { ProfileBirths, ProfileStore } from '../src/social/profiles.io.ts';
import { MemoryTopic } from './table-fixture.ts';

/** Comments and profiles over topics in memory; `said` is what stands on them. */
export function openSocial(listed: CatalogIndex, clock: { nowMs(): number }) {
  const profileTopic = new MemoryTopic<Profile>();
  const said = { comments: [] as CommentEvent[], profiles: profileTopic.records };
  const comments = new CommentStore({
    async append(event) {
      const offset = said.comments.push(event) - 1;
      comments.take(event, offset);
      return offset;
    },
  });
  const births = new ProfileBirths();
  const profiles = new ProfileStore({ clock, births, table: profileTopic.open(births) });
  return { comments, profiles, listed, said };
}
