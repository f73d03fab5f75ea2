import type { StreamChannel } from '@pm/schemas';
import type { FeedChange, OwnChange, RulesChange } from '../feed/changes.ts';
import type { RulesSnapshot } from '../feed/snapshots.ts';
import type { Message } from './message.ts';
import {
  keyOf,
  type Publication,
  type RenderFacts,
  renderChange,
  subjects,
} from './publication.ts';

/** Renders the change of a wallet; given by the private channel. */
export type RenderOwn = (change: OwnChange, publication: Publication) => Message | null;

/**
 * What has readers at the moment, by channel and market. A record is rendered for the keys that have readers, once for
 * each, and delivered in the order of the log.
 */
export class Publications {
  readonly #facts: RenderFacts;
  readonly #renderOwn: RenderOwn;
  readonly #byId = new Map<string, Publication>();
  readonly #bySubject = new Map<string, Set<Publication>>();
  /** The newest rules of markets that the catalog does not know yet, by number. */
  readonly #unlisted = new Map<number, RulesChange>();
  #messages = 0;

  constructor(facts: RenderFacts, renderOwn: RenderOwn) {
    this.#facts = facts;
    this.#renderOwn = renderOwn;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Messages rendered so far. */
  get messages(): number {
    return this.#messages;
  }

  find(id: string): Publication | undefined {
    return this.#byId.get(id);
  }

  /** The publication of the id, added if there is none. */
  open(made: Omit<Publication, 'subscribers'>): Publication {
    const known = this.#byId.get(made.id);
    if (known !== undefined) return known;
    const publication = { ...made, subscribers: new Set<never>() } as Publication;
    this.#byId.set(made.id, publication);
    const { subject } = publication;
    const list = this.#bySubject.get(subject) ?? new Set();
    list.add(publication);
    this.#bySubject.set(subject, list);
    return publication;
  }

  /** Forgets a publication once it has no readers. */
  release(publication: Publication): void {
    if (publication.subscribers.size > 0) return;
    this.#byId.delete(publication.id);
    const { subject } = publication;
    const list = this.#bySubject.get(subject);
    list?.delete(publication);
    if (list?.size === 0) this.#bySubject.delete(subject);
  }

  /** Those of a channel of a market. */
  of(channel: StreamChannel, market: number): Iterable<Publication> {
    return this.#bySubject.get(subjects.market(channel, market)) ?? [];
  }

  /** Delivers the changes of a record. */
  publish(changes: readonly FeedChange[]): void {
    for (const change of changes) {
      this.deliver(subjectOf(change), (publication) => {
        publication.seq = change.seq;
        if (change.channel === 'own') return this.#renderOwn(change, publication);
        return renderChange(change, publication.key, { facts: this.#facts });
      });
      if (change.channel === 'markets') this.#publishToAll(change);
    }
  }

  /** Renders a message for each publication of a subject, and delivers it to its readers. */
  deliver(subject: string, render: (publication: Publication) => Message | null): void {
    for (const publication of this.#bySubject.get(subject) ?? []) {
      const message = render(publication);
      if (message === null) continue;
      this.#messages += 1;
      for (const subscriber of publication.subscribers) subscriber.deliver(message, publication);
    }
  }

  /**
   * Whether a market can be shown to those who read all markets. One that the catalog does not know yet is delivered by
   * `publishListed` once it does.
   */
  openListing({ market, seq, rules, ...place }: RulesSnapshot): boolean {
    this.publishListed();
    if (this.#facts.catalog.market(market) !== undefined) return true;
    const { partition, offset, timeMs } = place;
    const at = { partition, offset, index: -1, timeMs };
    this.#unlisted.set(market, { channel: 'markets', market, seq, at, action: 'listed', rules });
    return false;
  }

  /** Delivers the markets that the catalog has come to know. */
  publishListed(): void {
    for (const change of this.#unlisted.values()) {
      if (this.#facts.catalog.market(change.market) === undefined) continue;
      this.#unlisted.delete(change.market);
      this.#toAll(change, 0);
    }
  }

  #publishToAll(change: RulesChange): void {
    this.publishListed();
    if (this.#facts.catalog.market(change.market) === undefined) {
      this.#unlisted.set(change.market, change);
    } else this.#toAll(change, change.seq - 1);
  }

  /** `prev`: the newest message of the market that readers of all markets have. */
  #toAll(change: RulesChange, prev: number): void {
    const market = this.#facts.catalog.market(change.market);
    if (market === undefined) return;
    const key = keyOf('markets', market, 0);
    const message = renderChange(change, key, { facts: this.#facts, prev });
    this.deliver(subjects.allMarkets(change.at.partition), (publication) => {
      const before = publication.seq;
      publication.seq += change.seq - prev;
      const numbers = { seq: publication.seq, prev: before, key: publication.key };
      return message === null ? null : { ...message, ...numbers };
    });
  }
}

function subjectOf(change: FeedChange): string {
  return change.channel === 'own'
    ? subjects.own(change.wallet, change.at.partition)
    : subjects.market(change.channel, change.market);
}
