import type { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import { Comments } from '@pm/domain/social/comments.io';
import type { CommentEvent } from '@pm/schemas/log/comments';
import type { Profile } from '@pm/schemas/log/profiles';
import { ProfileCreationTimes, Profiles } from '../src/social/profiles.io.ts';
import { RoomFake } from './room-fixture.ts';
import { MemoryTopic } from './table-fixture.ts';

/** Comments and profiles over topics in memory; `said` is what stands on them. */
export function openSocial(
  listed: CatalogIndex,
  clock: { nowMs(): number },
  room = new RoomFake(),
) {
  const profileTopic = new MemoryTopic<Profile>();
  const said = { comments: [] as CommentEvent[], profiles: profileTopic.records };
  const comments = new Comments({
    async append(event) {
      const offset = said.comments.push(event) - 1;
      comments.take(event, offset);
      return offset;
    },
  });
  const creationTimes = new ProfileCreationTimes();
  const table = profileTopic.open(creationTimes);
  const profiles = new Profiles({ clock, creationTimes, entryQuota: room, table });
  return { comments, profiles, room, listed, said };
}
