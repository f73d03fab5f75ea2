import { streamCloses } from '@pm/schemas/streams/codes';
import { ExchangeError } from '../errors.ts';
import { StreamRefusedError } from './errors.ts';

/** The end of a connection, and whether another one may fare better. */
export interface Ending {
  readonly error: Error;
  readonly isFinal: boolean;
  /** It carried messages: the retry budget starts again. */
  readonly wasLive: boolean;
}

/** Wrong frames, a key that ended: the same again has the same end. */
export function endingOf(code: number, reason: string): Omit<Ending, 'wasLive'> {
  const isFinal =
    code === streamCloses.notAuthorized.code && reason !== streamCloses.unsubscribed.reason;
  const error = isFinal
    ? new StreamRefusedError(`close_${code}`, reason)
    : new ExchangeError(0, { error: `the stream ended: ${code} ${reason}`, code: 'no_answer' });
  return { error, isFinal };
}
