/** Limits of stream connections, by the names that `GET /rate-limits` and the first frame of a connection show. */
export const streamLimits = {
  connections_per_address: 200,
  connections_per_key: 50,
  connections_opened_per_minute: 600,
  subscriptions_per_connection: 1_000,
  live_subscriptions_per_connection: 100,
  memory_bytes_per_connection: 4 * 1024 * 1024,
  memory_bytes_per_address: 32 * 1024 * 1024,
  keys_per_frame: 500,
  frames_per_second: 20,
  // One frame names all tokens of a connection: 1,000 of 78 digits with their quotes and commas.
  frame_bytes: 96 * 1024,
  queue_bytes: 4 * 1024 * 1024,
  resume_messages: 100_000,
  resume_seconds: 3_600,
  resumes_per_connection: 4,
  resumes_per_address: 16,
  snapshot_items: 500,
  wrong_frames: 3,
  unsubscribed_seconds: 30,
  silent_seconds: 70,
} as const;

export type StreamLimitName = keyof typeof streamLimits;

/** Description of each limit of streams: the things that it counts. */
export const streamLimitMeanings: Readonly<Record<StreamLimitName, string>> = {
  connections_per_address: 'Open connections of one address; a further one is closed with 4029.',
  connections_per_key:
    'Open connections that proved one API key; a further proof closes with 4029.',
  connections_opened_per_minute: 'Connections that one address opens in a minute; then 4029.',
  subscriptions_per_connection: 'Keys that one connection subscribes to, over all channels.',
  live_subscriptions_per_connection: 'Subscriptions of one connection of `/ws/live-data`.',
  memory_bytes_per_connection:
    'Memory that the subscriptions of one connection count with; what passes it is refused as too many subscriptions.',
  memory_bytes_per_address:
    'The same for all connections of one address, each of which counts 40 KiB itself; a connection that passes it is closed with 4029.',
  keys_per_frame: 'Keys that one frame names.',
  frames_per_second: 'Frames of one client in a second, after a burst of twice as many.',
  frame_bytes: 'Bytes of a frame of a client; a larger one closes the connection with 1009.',
  queue_bytes:
    'Bytes that wait for a slow reader. Past half of them deltas are merged, past all of them the connection is closed with 4008.',
  resume_messages: 'Messages that a resumed subscription of a public channel gets again.',
  resume_seconds: 'Age of the oldest of them, by the clock of the partition.',
  resumes_per_connection:
    'Resumed subscriptions of one connection that are sent at once; further ones wait.',
  resumes_per_address: 'The same for all connections of one address.',
  snapshot_items:
    'Orders, and positions, of one message: a snapshot with more of them comes in parts.',
  wrong_frames: 'Wrong frames of one connection; the last of them closes it with 1008.',
  unsubscribed_seconds: 'A connection without a subscription is closed after this, with 1008.',
  silent_seconds: 'A connection that answers no ping of the server for so long is closed.',
};

/** Interval of heartbeats, milliseconds. */
export const streamHeartbeatMs = 1_000;

/**
 * Silence of an owner after which its partition is not live in heartbeats, milliseconds: two ticks. `GET /status` waits
 * longer (owner-silence.ts).
 */
export const streamOwnerSilenceMs = 1_000;

/** A checksum of a book follows each message whose `seq` is a multiple of this. */
export const checksumEvery = 100;

/** A service that cannot follow the log for so long closes its connections with 4010, milliseconds. */
export const streamLagMaxMs = 5_000;
