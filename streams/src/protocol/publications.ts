import type { StreamChannel } from '@pm/schemas/streams/channels';
import type { FeedChange, OwnChange, RulesChange } from '../feed/changes.ts';
import type { RulesSnapshot } from '../feed/snapshots.ts';
import { type ConnectionMemoryBudget, keptBytes } from './connection-memory-budget.ts';
import type { Message } from './message.ts';
import {
  allMarkets,
  keyOf,
  type Publication,
  type RenderFacts,
  renderChange,
  subjects,
} from './publication.ts';

/** The rules of all markets of a partition. */
export interface MarketListing {
  /** Sum of the numbers of their newest messages. */
  readonly seq: number;
  readonly states: readonly RulesSnapshot[];
}

/** Renders the change of a wallet; given by the private channel. */
export type RenderOwn = (change: OwnChange, publication: Publication) => Message | null;

/**
 * Publications that have readers at the moment, by channel and market. A record is rendered for the keys that have
 * readers, once for each, and delivered in the order of the log.
 */
export class Publications {
  readonly #facts: RenderFacts;
  readonly #renderOwn: RenderOwn;
  readonly #room: Pick<ConnectionMemoryBudget, 'countOnce'>;
  readonly #onForgotten: (publication: Publication) => void;
  readonly #byId = new Map<string, Publication>();
  readonly #bySubject = new Map<string, Set<Publication>>();
  /** The newest rules of markets that the catalog does not know yet, by number. */
  readonly #unlisted = new Map<number, RulesChange>();
  /** By partition; empty until it is read. */
  readonly #listings = new Map<number, MarketListing>();
  #messages = 0;

  constructor(
    facts: RenderFacts,
    {
      renderOwn,
      room,
      onForgotten,
    }: {
      readonly renderOwn: RenderOwn;
      readonly room: Pick<ConnectionMemoryBudget, 'countOnce'>;
      /** The last reader of a publication has left. */
      readonly onForgotten?: (publication: Publication) => void;
    },
  ) {
    this.#facts = facts;
    this.#renderOwn = renderOwn;
    this.#room = room;
    this.#onForgotten = onForgotten ?? (() => {});
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

  /** The publication of the id for one more reader, added if there is none. */
  open(made: Omit<Publication, 'subscribers' | 'head'>): Publication {
    const known = this.#byId.get(made.id);
    if (known !== undefined) {
      this.#room.countOnce(keptBytes.publication);
      return known;
    }
    const head = headOf(made);
    const publication: Publication = { ...made, head, subscribers: new Set() };
    this.#byId.set(made.id, publication);
    const { subject } = publication;
    const list = this.#bySubject.get(subject) ?? new Set();
    list.add(publication);
    this.#bySubject.set(subject, list);
    return publication;
  }

  /** A reader has left; without one the publication is forgotten. */
  release(publication: Publication): void {
    if (publication.subscribers.size > 0) {
      this.#room.countOnce(-keptBytes.publication);
      return;
    }
    this.#byId.delete(publication.id);
    const { subject } = publication;
    const list = this.#bySubject.get(subject);
    list?.delete(publication);
    if (list?.size === 0) this.#bySubject.delete(subject);
    this.#onForgotten(publication);
  }

  /** Publications of a channel of a market that have readers. */
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
      for (const subscriber of publication.subscribers) subscriber.deliver(message);
    }
  }

  /**
   * All markets of a partition that the catalog knows, with the sum of their numbers; `read` gives those of all
   * partitions. They are read once for all readers, until rules change or a market is listed.
   */
  listingOf(partition: number, read: () => Iterable<RulesSnapshot>): MarketListing {
    this.publishListed();
    const known = this.#listings.get(partition);
    if (known !== undefined) return known;
    this.#listings.clear();
    const states = new Map<number, RulesSnapshot[]>([[partition, []]]);
    for (const state of read()) {
      if (!this.#isListed(state)) continue;
      const list = states.get(state.partition) ?? [];
      states.set(state.partition, list);
      list.push(state);
    }
    for (const [of, list] of states) {
      const seq = list.reduce((sum, one) => sum + one.seq, 0);
      this.#listings.set(of, { seq, states: list });
    }
    return this.#listings.get(partition) ?? { seq: 0, states: [] };
  }

  /** A partition starts over. */
  reset(): void {
    this.#listings.clear();
  }

  /** False for a market that the catalog does not know yet: `publishListed` delivers it once it does. */
  #isListed({ market, seq, rules, ...place }: RulesSnapshot): boolean {
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
      this.#listings.clear();
      this.#toAll(change, 0);
    }
  }

  #publishToAll(change: RulesChange): void {
    this.publishListed();
    this.#listings.clear();
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

function headOf({ channel, name, partition }: Omit<Publication, 'subscribers' | 'head'>): string {
  const isByPartition = channel === 'own' || name === allMarkets;
  const place = isByPartition ? { key: name, partition } : { key: name };
  return `${JSON.stringify({ channel, ...place }).slice(0, -1)},"seq":`;
}

function subjectOf(change: FeedChange): string {
  return change.channel === 'own'
    ? subjects.own(change.wallet, change.at.partition)
    : subjects.market(change.channel, change.market);
}
