import type { EntryRoom } from '../accounts/entry-room.io.ts';
import type { CatalogIndex } from '../catalog/catalog-index.ts';
import type { NewMarkets } from '../catalog/new-markets.io.ts';
import type { Authentication } from '../door/authentication.io.ts';
import type { Comments } from './comments.io.ts';
import type { Profiles } from './profiles.io.ts';

/** Dependencies of the routes for comments and profiles. */
export interface SocialServices {
  readonly authentication: Authentication;
  readonly comments: Pick<Comments, 'threads' | 'write'>;
  readonly profiles: Pick<Profiles, 'put'>;
  readonly room: Pick<EntryRoom, 'admits'>;
  readonly listed: Pick<CatalogIndex, 'findEvent' | 'hasSeries' | 'findMarket' | 'findCondition'>;
  readonly newMarkets: NewMarkets;
}
