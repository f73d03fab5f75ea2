import type { SentCredentials } from '@pm/domain/accounts/key-verifier';
import { streamLimits } from '@pm/schemas';

/** A frame of `/ws/market` or `/ws/user`: both spellings of the action, `type` of the first and `operation`. */
export interface ChannelFrame {
  readonly action: 'subscribe' | 'unsubscribe';
  readonly tokens: readonly string[];
  /** Condition ids in lower case; null when the frame has none. */
  readonly markets: readonly string[] | null;
  /** Null when the frame does not say. */
  readonly customFeatures: boolean | null;
  readonly isDumpWanted: boolean;
  /** Null when the frame has no credentials. */
  readonly auth: SentCredentials | null;
}

/** A frame of `/ws/live-data`. */
export interface LiveFrame {
  readonly action: 'subscribe' | 'unsubscribe';
  readonly subscriptions: readonly LiveSubscription[];
}

export interface LiveSubscription {
  readonly topic: string;
  /** `*` for every type of the topic. */
  readonly type: string;
  /** Values as text; empty for everything. */
  readonly filters: ReadonlyMap<string, string>;
}

/** Ids of one frame: tokens of 78 digits do not come near it within the bound of a frame. */
const idsMax = streamLimits.subscriptions_per_connection;
const idMaxChars = 80;
const textMaxChars = 500;
const filtersMax = 10;

/** Reads a text frame as an object; null when it is none. */
export function readObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

const field = (frame: object, name: string): unknown =>
  Object.hasOwn(frame, name) ? Reflect.get(frame, name) : undefined;

/** Null for a frame that is none of the channel. Fields that are not known are ignored, as clients add their own. */
export function readChannelFrame(frame: object, channel: 'market' | 'user'): ChannelFrame | null {
  const action = actionOf(frame, channel);
  const tokens = idsOf(field(frame, 'assets_ids'));
  const markets = idsOf(field(frame, 'markets'));
  const auth = field(frame, 'auth');
  const sent = auth === undefined || auth === null ? null : credentialsOf(auth);
  if (action === null || tokens === 'wrong' || markets === 'wrong' || sent === 'wrong') return null;
  const custom = field(frame, 'custom_feature_enabled');
  return {
    action,
    tokens: tokens ?? [],
    markets: markets?.map((id) => id.toLowerCase()) ?? null,
    customFeatures: typeof custom === 'boolean' ? custom : null,
    isDumpWanted: field(frame, 'initial_dump') !== false,
    auth: sent,
  };
}

/** `operation` decides where it is given; a frame with only a `type` subscribes. The type is compared without case. */
function actionOf(frame: object, channel: string): ChannelFrame['action'] | null {
  const type = field(frame, 'type');
  const operation = field(frame, 'operation');
  const isOther = typeof type === 'string' && type.toLowerCase() !== channel;
  if (isOther || (type !== undefined && typeof type !== 'string')) return null;
  if (operation === 'subscribe' || operation === 'unsubscribe') return operation;
  return operation === undefined && type !== undefined ? 'subscribe' : null;
}

function idsOf(value: unknown): readonly string[] | null | 'wrong' {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value) || value.length > idsMax) return 'wrong';
  const ids: unknown[] = value;
  const texts = ids.filter((id) => typeof id === 'string');
  return texts.length === ids.length && texts.every((id) => id.length <= idMaxChars)
    ? texts
    : 'wrong';
}

function credentialsOf(auth: unknown): SentCredentials | 'wrong' {
  if (typeof auth !== 'object' || auth === null) return 'wrong';
  const text = (...names: readonly string[]) => {
    const found = names.map((name) => field(auth, name)).find((value) => typeof value === 'string');
    return typeof found === 'string' && found.length <= textMaxChars ? found : '';
  };
  return {
    apiKey: text('apikey', 'apiKey'),
    secret: text('secret'),
    passphrase: text('passphrase'),
  };
}

/** Null for a frame that is none. Topics and types that do not exist are no fault: nothing comes of them. */
export function readLiveFrame(frame: object): LiveFrame | null {
  const action = field(frame, 'action');
  const listed = field(frame, 'subscriptions');
  if (action !== 'subscribe' && action !== 'unsubscribe') return null;
  if (!Array.isArray(listed) || listed.length > streamLimits.keys_per_frame) return null;
  const subscriptions: LiveSubscription[] = [];
  for (const one of listed) {
    const read = liveSubscriptionOf(one);
    if (read === null) return null;
    subscriptions.push(read);
  }
  return { action, subscriptions };
}

function liveSubscriptionOf(value: unknown): LiveSubscription | null {
  if (typeof value !== 'object' || value === null) return null;
  const topic = field(value, 'topic');
  const type = field(value, 'type') ?? '*';
  const filters = filtersOf(field(value, 'filters'));
  if (typeof topic !== 'string' || typeof type !== 'string' || filters === null) return null;
  return topic.length > idMaxChars || type.length > idMaxChars ? null : { topic, type, filters };
}

/** An object, or one as a JSON text; absent and empty ones let everything through. */
function filtersOf(value: unknown): ReadonlyMap<string, string> | null {
  if (value === undefined || value === null || value === '') return new Map();
  const shape = typeof value === 'string' ? readObject(value) : value;
  if (typeof shape !== 'object' || shape === null || Array.isArray(shape)) return null;
  const entries = Object.entries(shape);
  if (entries.length > filtersMax) return null;
  const found = new Map<string, string>();
  for (const [name, one] of entries) {
    if (typeof one !== 'string' && typeof one !== 'number') return null;
    if (String(one).length > textMaxChars) return null;
    found.set(name, String(one));
  }
  return found;
}
