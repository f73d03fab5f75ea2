import type { SentCredentials } from '@pm/domain/accounts/key-verifier';
import {
  type FamilyLiveFrame,
  type FamilyMarketFrame,
  type FamilyUserFrame,
  familyFrames,
} from '@pm/schemas/streams/family-frames';
import { Compile } from 'typebox/compile';
import { type LiveSubscription, readSubscription } from './live-subscription.ts';

type Action = 'subscribe' | 'unsubscribe';

/** A frame of `/ws/market`. */
export interface MarketFrame {
  readonly action: Action;
  readonly tokens: readonly string[];
  /** Condition ids in lower case. */
  readonly markets: readonly string[];
  /** Null when the frame does not say. */
  readonly customFeatures: boolean | null;
  readonly isDumpWanted: boolean;
}

/** A frame of `/ws/user`. */
export interface UserFrame {
  readonly action: Action;
  /** Condition ids in lower case; null when the frame has none. */
  readonly markets: readonly string[] | null;
  /** Null when the frame has no credentials. */
  readonly auth: SentCredentials | null;
}

/** A frame of `/ws/live-data`. */
export interface LiveFrame {
  readonly action: Action;
  readonly subscriptions: readonly LiveSubscription[];
  /** Why others of the frame are refused, each text once. */
  readonly refusals: ReadonlySet<string>;
}

const checkers = {
  market: Compile(familyFrames.market.FamilyMarketFrame),
  user: Compile(familyFrames.user.FamilyUserFrame),
  live: Compile(familyFrames['live-data'].FamilyLiveFrame),
} as const;

/** Null for a frame that is none of the stream. */
export function readMarketFrame(frame: object): MarketFrame | null {
  if (!checkers.market.Check(frame)) return null;
  const read: FamilyMarketFrame = frame;
  return {
    action: read.operation ?? 'subscribe',
    tokens: read.assets_ids ?? [],
    markets: lowered(read.markets) ?? [],
    customFeatures: read.custom_feature_enabled ?? null,
    isDumpWanted: read.initial_dump !== false,
  };
}

/** Null for a frame that is none of the stream. */
export function readUserFrame(frame: object): UserFrame | null {
  if (!checkers.user.Check(frame)) return null;
  const { operation, markets, auth }: FamilyUserFrame = frame;
  const sent = auth ?? null;
  return {
    action: operation ?? 'subscribe',
    markets: lowered(markets),
    auth:
      sent === null
        ? null
        : {
            apiKey: sent.apikey ?? sent.apiKey ?? '',
            secret: sent.secret ?? '',
            passphrase: sent.passphrase ?? '',
          },
  };
}

/** Null for a frame that is none of the stream. */
export function readLiveFrame(frame: object): LiveFrame | null {
  if (!checkers.live.Check(frame)) return null;
  const { action, subscriptions: listed }: FamilyLiveFrame = frame;
  const subscriptions: LiveSubscription[] = [];
  const refusals = new Set<string>();
  for (const sent of listed) {
    const read = readSubscription(sent);
    if (read === null) return null;
    if (typeof read === 'string') refusals.add(read);
    else subscriptions.push(read);
  }
  return { action, subscriptions, refusals };
}

function lowered(ids: readonly string[] | null | undefined): readonly string[] | null {
  return ids?.map((id) => id.toLowerCase()) ?? null;
}
