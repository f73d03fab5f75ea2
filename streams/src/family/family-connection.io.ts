import type { CredentialsVerifier } from '@pm/domain/accounts/key-verifier';
import type { HeldComment } from '@pm/domain/comments/threads';
import type { Catalog } from '@pm/domain/markets/catalog';
import type { Profiles } from '@pm/domain/social/profiles';
import type { ApiKeyId, WalletAddress } from '@pm/schemas/ids';
import type { StreamCloseName } from '@pm/schemas/streams/codes';
import type { Feed } from '../feed/feed.io.ts';
import type { ReaderSocketParts } from '../protocol/reader-socket.io.ts';
import type { StartScheduler } from '../protocol/start-scheduler.io.ts';

/** Data sources and services that the streams of the family use. */
export interface FamilyParts extends ReaderSocketParts {
  readonly feed: Pick<Feed, 'listen' | 'snapshot' | 'partitions'>;
  readonly openings: StartScheduler;
  readonly catalog: Catalog;
  readonly profiles: Profiles;
  readonly verifyCredentials: CredentialsVerifier;
  /** All wallets that the holder of a key trades from. */
  walletsOf(wallet: WalletAddress): readonly WalletAddress[];
  /** All keys that the wallet ever had. */
  keysOf(wallet: WalletAddress): ReadonlySet<ApiKeyId>;
  /** Calls the function for each new comment; returns what ends that. */
  listenToComments(take: (comment: HeldComment) => void): () => void;
}

/** A new connection of a stream. */
export interface Opened {
  /** Address of its client, whose connections are counted together. */
  readonly address: string;
  readonly onClosed: FamilyConnection['onClosed'];
}

/** A connection of any of the streams. */
export interface FamilyConnection {
  readonly subscriptions: number;
  reads(partition: number): boolean;
  /** Once a second. */
  tick(): void;
  close(name: StreamCloseName): void;
  onClosed(connection: FamilyConnection, reason: StreamCloseName | 'left'): void;
}
