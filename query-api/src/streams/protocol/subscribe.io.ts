import type { StreamErrorCode, StreamPosition, SubscribeFrame } from '@pm/schemas';
import type { FeedReplay } from '../feed/feed.io.ts';
import type { ReplayStart } from '../feed/replay-plan.ts';
import type { FirstMessages, Message } from './message.ts';
import type { Publication } from './publication.ts';
import type { Target } from './targets.io.ts';

/** How a subscription begins: with a snapshot, or with messages that the client has missed. */
export type Beginning =
  | { readonly kind: 'messages'; readonly first: FirstMessages; readonly fromSeq: number | null }
  | { readonly kind: 'replay'; readonly replay: FeedReplay; readonly fromSeq: number | null };

/** A target with its beginning, both of the same moment. */
export interface Opening {
  readonly target: Target;
  readonly beginning: Beginning;
}

/** The positions of a frame: of one key, or for `own` of its partitions. */
export function beginAll(
  targets: readonly Target[],
  { channel, from }: Pick<SubscribeFrame, 'channel' | 'from'>,
): readonly Opening[] | StreamErrorCode {
  const isOfSums = targets.some(({ publication }) => publication.numbering === 'sum');
  if (from !== undefined && isOfSums) return 'not_resumable';
  if (from !== undefined && channel !== 'own' && targets.length !== 1) return 'one_key_to_resume';
  const positions = from === undefined ? [] : [from].flat();
  const openings: Opening[] = [];
  for (const target of targets) {
    const position = positionOf(positions, target, channel === 'own');
    const beginning = position === null ? snapshotOf(target, false) : resume(target, position);
    if (typeof beginning === 'string') return beginning;
    openings.push({ target, beginning });
  }
  return openings;
}

function positionOf(
  positions: readonly StreamPosition[],
  { partition }: Target,
  isByPartition: boolean,
): StreamPosition | null {
  if (!isByPartition) return positions[0] ?? null;
  return positions.find((position) => position.partition === partition) ?? null;
}

function resume(target: Target, position: StreamPosition): Beginning | StreamErrorCode {
  if ('offset' in position && position.partition !== target.partition) return 'invalid_frame';
  const newest = target.newestSeq();
  if (newest === null) return 'unavailable';
  const start: ReplayStart =
    'offset' in position ? { offset: position.offset + 1 } : { seq: position.seq };
  const fromSeq = 'seq' in start ? start.seq : null;
  if (fromSeq !== null && fromSeq > newest) return 'position_ahead';
  const replay = target.replay(start);
  if (replay === null) return snapshotOf(target, true);
  if ('messages' in replay) return { kind: 'messages', first: replay, fromSeq };
  return { kind: 'replay', replay, fromSeq };
}

function snapshotOf(target: Target, isGap: boolean): Beginning | StreamErrorCode {
  const first = target.snapshot(isGap);
  return first === null ? 'unavailable' : { kind: 'messages', first, fromSeq: null };
}

/** A key that a connection reads. */
export interface Subscription {
  readonly publication: Publication;
  /** The newest message that was handed to the socket; null before the first. */
  sentSeq: number | null;
  /** Live messages that wait for the end of what comes first; null when they need not. */
  pending: Message[] | null;
  pendingBytes: number;
  isEnded: boolean;
}
