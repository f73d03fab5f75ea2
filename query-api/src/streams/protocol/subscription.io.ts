import type { Message } from './message.ts';
import type { Publication, Subscriber } from './publication.ts';
import type { SentPosition, StreamWriter } from './stream-writer.io.ts';
import type { Opening } from './subscribe.io.ts';

/**
 * `waiting`: nothing is sent yet; what it begins with is read at its turn and has all that happened before.
 * `beginning`: that is being sent, and live messages wait. `live`: each message is sent as it comes.
 */
export type SubscriptionPhase = 'waiting' | 'beginning' | 'live';

/** What a subscription has of its connection. */
interface SubscriptionOwner {
  readonly writer: Pick<StreamWriter, 'send'>;
  readonly pending: { add(message: Message, subscription: Subscription): void };
}

/** A key that a connection reads. */
export class Subscription implements Subscriber, SentPosition {
  readonly publication: Publication;
  readonly opening: Opening;
  /** That of the frame that began it. */
  readonly frameId: number;
  /** The newest message that was handed to the socket; null before the first. */
  sentSeq: number | null;
  phase: SubscriptionPhase = 'waiting';
  /** Live messages that wait for the end of what comes first. */
  pending: Message[] = [];
  isEnded = false;
  readonly #owner: SubscriptionOwner;

  constructor(
    publication: Publication,
    { opening, frameId }: { readonly opening: Opening; readonly frameId: number },
    owner: SubscriptionOwner,
  ) {
    const { start } = opening;
    this.publication = publication;
    this.opening = opening;
    this.frameId = frameId;
    this.sentSeq = start !== null && 'seq' in start ? start.seq : null;
    this.#owner = owner;
  }

  deliver(message: Message): void {
    if (this.phase === 'live') this.#owner.writer.send(message, this);
    else if (this.phase === 'beginning') this.#owner.pending.add(message, this);
  }
}
