/** Why a connection was closed; `isResumable`: the closing frame says from where subscriptions can go on. */
export interface CloseReason {
  readonly code: number;
  readonly reason: string;
  readonly isResumable: boolean;
}

/** Close codes of stream connections. */
export const streamCloses = {
  normal: { code: 1000, reason: 'closed', isResumable: false },
  shutdown: { code: 1012, reason: 'the service restarts', isResumable: true },
  wrongFrames: { code: 1008, reason: 'too many wrong frames', isResumable: false },
  unsubscribed: { code: 1008, reason: 'no subscription', isResumable: false },
  notAuthorized: { code: 1008, reason: 'the key is no longer valid', isResumable: false },
  slowReader: { code: 4008, reason: 'the reader is too slow', isResumable: true },
  logAway: { code: 4010, reason: 'the log cannot be followed', isResumable: true },
  tooManyConnections: { code: 4029, reason: 'too many connections', isResumable: false },
} as const satisfies Readonly<Record<string, CloseReason>>;

export type StreamCloseName = keyof typeof streamCloses;

/** Codes of error frames, with their texts. `isRetryable`: the same frame may succeed later. */
export const streamErrors = {
  not_json: { message: 'a frame is one JSON object', isRetryable: false },
  unknown_op: { message: 'op is not one of the listed ones', isRetryable: false },
  invalid_frame: { message: 'the frame does not have the form of its op', isRetryable: false },
  unknown_channel: { message: 'the channel does not exist', isRetryable: false },
  unknown_key: { message: 'a token, market or event does not exist', isRetryable: false },
  wrong_keys: { message: 'the channel takes other keys', isRetryable: false },
  one_key_to_resume: { message: 'from takes a frame with one key', isRetryable: false },
  not_resumable: { message: 'the channel cannot be resumed', isRetryable: false },
  position_ahead: { message: 'the position is after the newest message', isRetryable: true },
  not_subscribed: { message: 'there is no such subscription', isRetryable: false },
  too_many_subscriptions: { message: 'too many subscriptions', isRetryable: false },
  too_many_frames: { message: 'too many frames a second', isRetryable: true },
  unauthorized: { message: 'the headers prove no active key', isRetryable: false },
  not_authenticated: { message: 'the channel needs an auth frame first', isRetryable: false },
  already_authenticated: { message: 'the connection has a key already', isRetryable: false },
  unavailable: { message: 'this cannot be read at the moment', isRetryable: true },
  overloaded: { message: 'the service has no room for more subscriptions', isRetryable: true },
} as const satisfies Readonly<Record<string, { message: string; isRetryable: boolean }>>;

export type StreamErrorCode = keyof typeof streamErrors;

/** Errors that are no fault of the frame: they do not count as wrong frames. */
export const blamelessErrors: ReadonlySet<StreamErrorCode> = new Set([
  'position_ahead',
  'unavailable',
  'overloaded',
  'unknown_key',
  'too_many_subscriptions',
  'not_subscribed',
]);
