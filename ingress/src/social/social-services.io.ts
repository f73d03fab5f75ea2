import type { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import type { Comments } from '@pm/domain/social/comments.io';
import type { EntryQuota } from '../accounts/entry-quota.io.ts';
import type { NewMarkets } from '../catalog/new-markets.io.ts';
import type { Authentication } from '../http/authentication.io.ts';
import type { Profiles } from './profiles.io.ts';

/** Dependencies of the routes for comments and profiles. */
export interface SocialServices {
  readonly authentication: Authentication;
  readonly comments: Pick<Comments, 'threads' | 'write'>;
  readonly profiles: Pick<Profiles, 'put'>;
  readonly entryQuota: Pick<EntryQuota, 'admits'>;
  readonly listed: Pick<CatalogIndex, 'findEvent' | 'hasSeries' | 'findMarket' | 'findCondition'>;
  readonly newMarkets: NewMarkets;
}
