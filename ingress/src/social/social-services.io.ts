import type { EntryQuota } from '../accounts/entry-quota.io.ts';
import type { CatalogIndex } from '../catalog/catalog-index.ts';
import type { NewMarkets } from '../catalog/new-markets.io.ts';
import type { Authentication } from '../http/authentication.io.ts';
import type { Comments } from './comments.io.ts';
import type { Profiles } from './profiles.io.ts';

/** Dependencies of the routes for comments and profiles. */
export interface SocialServices {
  readonly authentication: Authentication;
  readonly comments: Pick<Comments, 'threads' | 'write'>;
  readonly profiles: Pick<Profiles, 'put'>;
  readonly room: Pick<EntryQuota, 'admits'>;
  readonly listed: Pick<CatalogIndex, 'findEvent' | 'hasSeries' | 'findMarket' | 'findCondition'>;
  readonly newMarkets: NewMarkets;
}
