import type { ReplayStart } from '../feed/replay-plan.ts';
import type { Message } from './message.ts';
import type { Publication, Subscriber } from './publication.ts';
import type { SentPosition, StreamWriter } from './stream-writer.io.ts';
import type { Opening } from './subscribe.io.ts';

/**
 * `waiting`: nothing is sent yet; what it begins with is read at its turn and has all that happened before.
 * `beginning`: that is being sent, and live messages wait. `live`: each message is sent as it comes.
 */
export type SubscriptionPhase = 'waiting' | 'beginning' | 'live';

/** Parts of a connection that its subscriptions use. */
export interface SubscriptionOwner {
  readonly writer: Pick<StreamWriter, 'send'>;
  readonly pending: { add(message: Message, subscription: Subscription): void };
}

/** A key that a connection reads. There may be a million of them: each has little, and shares what it can. */
export class Subscription implements Subscriber, SentPosition {
  readonly publication: Publication;
  /** Position at which the subscription resumes; null for one that begins with a snapshot. */
  readonly start: ReplayStart | null;
  /** Messages before its snapshot are missing. */
  readonly isGap: boolean;
  /** That of the frame that began it. */
  readonly frameId: number;
  /** The newest message that was handed to the socket; null before the first. */
  sentSeq: number | null;
  phase: SubscriptionPhase = 'waiting';
  /** Live messages that wait for the end of what comes first; null for none. */
  pending: Message[] | null = null;
  isEnded = false;
  readonly #owner: SubscriptionOwner;

  constructor(
    publication: Publication,
    { start, isGap }: Pick<Opening, 'isGap' | 'start'>,
    { frameId, owner }: { readonly frameId: number; readonly owner: SubscriptionOwner },
  ) {
    this.publication = publication;
    this.start = start;
    this.isGap = isGap;
    this.frameId = frameId;
    this.sentSeq = start !== null && 'seq' in start ? start.seq : null;
    this.#owner = owner;
  }

  deliver(message: Message): void {
    if (this.phase === 'live') this.#owner.writer.send(message, this);
    else if (this.phase === 'beginning') this.#owner.pending.add(message, this);
  }
}
