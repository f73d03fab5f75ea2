/** Kind of object that the keys of a channel name. */
export type ChannelKey = 'token' | 'market' | 'event' | 'wallet';

export interface ChannelDeclaration {
  readonly key: ChannelKey;
  readonly isPrivate: boolean;
  /** Meaning of one message of the channel. */
  readonly message: string;
  /** Content of the snapshot that a subscription begins with. */
  readonly snapshot: string;
}

/** The channels of `/v1/stream`. */
export const streamChannels = {
  book: {
    key: 'token',
    isPrivate: false,
    message: 'A record of the log that changed levels of the market: their new totals.',
    snapshot: 'All levels of both sides.',
  },
  best: {
    key: 'token',
    isPrivate: false,
    message: 'New best prices, with their sizes.',
    snapshot: 'The best bid and ask.',
  },
  orders: {
    key: 'market',
    isPrivate: false,
    message: 'A resting order came, became smaller or left; its id means nothing elsewhere.',
    snapshot: 'All resting orders, in parts where they are many.',
  },
  trades: {
    key: 'market',
    isPrivate: false,
    message: 'A fill.',
    snapshot: 'An empty list.',
  },
  markets: {
    key: 'market',
    isPrivate: false,
    message: 'A market was listed, its rules or mode changed, or it was resolved.',
    snapshot: 'Rules, mode and payout.',
  },
  activity: {
    key: 'market',
    isPrivate: false,
    message: 'A side of a fill, a split, a merge or a redemption, as a row of GET /activity.',
    snapshot: 'An empty list.',
  },
  comments: {
    key: 'event',
    isPrivate: false,
    message: 'A comment on the event or one of its markets was written, changed or removed.',
    snapshot: 'The newest 20 comments.',
  },
  own: {
    key: 'wallet',
    isPrivate: true,
    message: 'A change of an own order, fill, balance, position or session.',
    snapshot:
      'Open orders, balance and positions of each partition, in parts where they are many; transfers and sessions.',
  },
} as const satisfies Readonly<Record<string, ChannelDeclaration>>;

export type StreamChannel = keyof typeof streamChannels;

export const streamChannelNames = Object.keys(streamChannels) as readonly StreamChannel[];

/** Paths of streams: the gateway forwards their upgrades to the stream service. */
export const streamPaths = {
  own: '/v1/stream',
  family: ['/ws', '/clob/ws'],
} as const;

/** Values that the proof of an `auth` frame covers besides key and time. */
export interface StreamProof {
  /** Id in the `welcome` of the connection. */
  readonly streamId: string;
  /** As the frame says; false where it says nothing. */
  readonly cancelOnDisconnect: boolean;
}

/** The path, with a query, over which an `auth` frame is signed as a GET without a body (conventions.md 2.2). */
export function streamProofPath({ streamId, cancelOnDisconnect }: StreamProof): string {
  return `${streamPaths.own}?stream_id=${streamId}&cancel_on_disconnect=${cancelOnDisconnect}`;
}

/** Streams of the family's dialect, below each of its prefixes. */
export const familyStreams = {
  market: 'Books and trades of tokens',
  user: 'Own orders and trades',
  'live-data': 'Matched orders and new comments of everyone',
} as const;

export type FamilyStream = keyof typeof familyStreams;

export const familyStreamNames = Object.keys(familyStreams) as readonly FamilyStream[];

/** The stream that a path names, which may end with a slash (conventions.md 1.2); null for any other path. */
export function streamOf(path: string): 'own' | FamilyStream | null {
  const plain = path.endsWith('/') ? path.slice(0, -1) : path;
  if (plain === streamPaths.own) return 'own';
  for (const prefix of streamPaths.family) {
    const found = familyStreamNames.find((name) => plain === `${prefix}/${name}`);
    if (found !== undefined) return found;
  }
  return null;
}

/** Whether upgrades of the path belong to the stream service. */
export function isStreamPath(path: string): boolean {
  return streamOf(path) !== null;
}
