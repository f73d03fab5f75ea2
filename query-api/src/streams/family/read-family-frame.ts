import type { SentCredentials } from '@pm/domain/accounts/key-verifier';
import {
  FamilyFilters,
  type FamilyLiveFrame,
  type FamilyMarketFrame,
  type FamilyUserFrame,
  familyFrames,
} from '@pm/schemas';
import { Compile } from 'typebox/compile';

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
}

export interface LiveSubscription {
  readonly topic: string;
  /** `*` for every type of the topic. */
  readonly type: string;
  /** Values as text in lower case; empty for everything. */
  readonly filters: ReadonlyMap<string, string>;
}

const checkers = {
  market: Compile(familyFrames.market.FamilyMarketFrame),
  user: Compile(familyFrames.user.FamilyUserFrame),
  live: Compile(familyFrames['live-data'].FamilyLiveFrame),
  filters: Compile(FamilyFilters),
} as const;

/** Reads a text frame as an object; null when it is none. */
export function readObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

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

/** Null for a frame that is none. Topics and types that do not exist are no fault: nothing comes of them. */
export function readLiveFrame(frame: object): LiveFrame | null {
  if (!checkers.live.Check(frame)) return null;
  const { action, subscriptions: listed }: FamilyLiveFrame = frame;
  const subscriptions: LiveSubscription[] = [];
  for (const { topic, type, filters: sent } of listed) {
    const filters = filtersOf(sent);
    if (filters === null) return null;
    subscriptions.push({ topic, type: type ?? '*', filters });
  }
  return { action, subscriptions };
}

function lowered(ids: readonly string[] | null | undefined): readonly string[] | null {
  return ids?.map((id) => id.toLowerCase()) ?? null;
}

/** An object, or one as a JSON text; absent and empty ones let everything through. */
function filtersOf(
  sent: FamilyLiveFrame['subscriptions'][number]['filters'],
): ReadonlyMap<string, string> | null {
  if (sent === undefined || sent === null || sent === '') return new Map();
  const shape: unknown = typeof sent === 'string' ? readObject(sent) : sent;
  if (!checkers.filters.Check(shape)) return null;
  return new Map(Object.entries(shape).map(([name, value]) => [name, String(value).toLowerCase()]));
}
