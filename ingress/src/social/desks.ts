import type { CommentThreads } from '@pm/domain/comments/threads';
import type { CommentEvent, Profile, WalletAddress } from '@pm/schemas';
import type { CatalogIndex } from '../catalog/catalog-index.ts';
import type { ProfileForm } from './profile-form.ts';

/** Comments as the log says, and the way to say more. */
export interface CommentDesk {
  readonly threads: Pick<CommentThreads, 'find' | 'findNamed' | 'replyTotal'>;
  /** Resolves with the record's offset when it is durable and folded in. Rejects with a `Fault`. */
  write(event: CommentEvent): Promise<number>;
}

export interface ProfileDesk {
  /** Resolves when it is durable. Rejects with a `Fault`. */
  put(wallet: WalletAddress, form: ProfileForm): Promise<Profile>;
}

/** What the routes of comments and profiles need beyond the door's own. */
export interface SocialDesks {
  readonly comments: CommentDesk;
  readonly profiles: ProfileDesk;
  readonly listed: Pick<CatalogIndex, 'findEvent' | 'hasSeries' | 'findMarket' | 'findCondition'>;
}
