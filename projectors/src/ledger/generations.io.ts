import { createHash, randomUUID } from 'node:crypto';
import type { LedgerTopic, RebuildPlan } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import type { SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { Sequences } from '@pm/domain/signoff/sequences';
import type { LogAdmin, LogProducer } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import { runRounds } from '@pm/kit/rounds';
import type { Transfer } from '@pm/schemas/log/accounts';
import type { Envelope } from '@pm/schemas/log/orders';

export interface LedgerGenerationsOptions {
  readonly ledger: Ledger;
  readonly admin: Pick<LogAdmin, 'bounds'>;
  readonly producer: Pick<LogProducer, 'send'>;
  readonly codecs: {
    readonly orders: Pick<RecordCodec<Envelope>, 'encode' | 'fingerprint'>;
    readonly transfers: Pick<RecordCodec<Transfer>, 'encode'>;
  };
  /** The LEDGER key. */
  readonly key: SignOffKey;
  /** Names on the broker. */
  readonly topics: Readonly<Record<LedgerTopic | 'orders', string>>;
  readonly log: Log;
  nowMs(): number;
  /** On a clock that never runs backwards, milliseconds; default that of the process. */
  monotonicMs?(): number;
  /**
   * Makes the views fold again the records that the ledger has lost; called while the fold has not reached the ends of
   * the log.
   */
  foldAgain(): Promise<void>;
  /** Called after each check. */
  onState(isOpen: boolean): void;
}

/** How often an open ledger is checked, milliseconds: a loss is noticed within this. */
const openCheckMs = 1_000;
/** How often a closed ledger is checked, milliseconds. */
const closedCheckMs = 200;
/** How long the log has to begin a generation before the generation is written again, milliseconds. */
const resendMs = 5_000;

/** A partition of a topic that the ledger is folded from. */
interface Place {
  readonly topic: LedgerTopic;
  readonly partition: number;
}

/** All of them, each with the offset that the fold must reach before a rebuild can be planned. */
type Ends = readonly (Place & { readonly end: number })[];

/**
 * Keeps the ledger open for reservations under a generation of the log.
 *
 * A ledger that is closed, was never opened or is lost with its Redis is folded again by the views. Once the fold has
 * reached the ends that the log had when the ledger was found closed, this class plans the generation after the newest
 * in the log, writes it into every partition of `orders` and as a fence onto `transfers`, and opens the ledger when the
 * fold has passed all of them. After the beginning of a generation a partition refuses every order reserved before it.
 * So no order is booked against a lost hold, and every order booked before is in the fold (architecture.md, Money).
 *
 * Several processes may run it: they share one plan, and a generation written twice begins once. A plan is lost with
 * its Redis; a loss during a rebuild leads to a new one.
 */
export class LedgerGenerations {
  readonly #options: LedgerGenerationsOptions;
  #ends: Ends | null = null;
  /** The partitions that the ledger was folded from when it was last found open. */
  #places: readonly Place[] | null = null;
  #sent: { readonly id: string; readonly atMs: number } | null = null;
  /** The newest generation under which this process has found the ledger open. */
  #openedGeneration = 0;
  readonly #sequences = new Sequences();

  constructor(options: LedgerGenerationsOptions) {
    this.#options = options;
  }

  /** Checks repeatedly until it is closed. */
  start(): { close(): Promise<void> } {
    return runRounds({
      round: async () => ((await this.check()) ? openCheckMs : closedCheckMs),
      onFailure: (error) => {
        this.#options.log.warn({ err: error }, 'the generation of the ledger could not be checked');
        return openCheckMs;
      },
    });
  }

  /** One check and one step; resolves to whether the ledger is open. */
  async check(): Promise<boolean> {
    const isOpen = (await this.#isSound()) || (await this.#rebuild());
    if (isOpen) this.#ends = null;
    else this.#places = null;
    this.#options.onState(isOpen);
    return isOpen;
  }

  /** Whether the ledger is open and may stay open; closes it when part of it may be lost. */
  async #isSound(): Promise<boolean> {
    const { ledger, log } = this.#options;
    const { ready, generation } = await ledger.state();
    if (!ready) return false;
    this.#places ??= await this.#endsNow();
    const newest = await this.#newestGeneration(this.#places);
    const isSound = newest === generation && !(await ledger.isOfEarlierLife());
    if (isSound) {
      this.#openedGeneration = Math.max(this.#openedGeneration, generation);
      return true;
    }
    await ledger.close();
    log.warn({ generation, newest }, 'the ledger is closed: part of it may be lost');
    return false;
  }

  async #rebuild(): Promise<boolean> {
    const { ledger } = this.#options;
    this.#ends ??= await this.#endsNow();
    if (!(await this.#isFolded(this.#ends))) {
      await this.#options.foldAgain();
      return false;
    }
    const { generation } = await ledger.state();
    const newest = Math.max(generation, await this.#newestGeneration(this.#ends));
    const plan = await ledger.planRebuild({ id: randomUUID(), generation: newest + 1 });
    if (plan === null) return false;
    if (plan.generation <= this.#openedGeneration) {
      // Redis is back at a state from before the ledger was opened under this generation.
      await ledger.close();
      return false;
    }
    await this.#begin(plan, this.#ends);
    const places = this.#ends.filter(({ topic }) => topic === 'executions');
    const isOpen = await ledger.open(
      plan,
      places.map(({ partition }) => partition),
    );
    if (!isOpen) return false;
    this.#openedGeneration = plan.generation;
    this.#options.log.info({ generation: plan.generation }, 'the ledger is open');
    return true;
  }

  /** Writes the generation to the partitions whose fold has not reached its beginning. */
  async #begin(plan: RebuildPlan, places: readonly Place[]): Promise<void> {
    const { ledger, producer, log, monotonicMs = () => performance.now() } = this.#options;
    if (this.#sent?.id === plan.id && monotonicMs() - this.#sent.atMs < resendMs) return;
    const missing: Place[] = [];
    for (const place of places) {
      const begun = await ledger.generation(place.topic, place.partition);
      if (begun < plan.generation) missing.push(place);
    }
    if (missing.length === 0) return;
    const where = missing.map(({ topic, partition }) => `${topic}:${partition}`);
    const facts = { generation: plan.generation, where };
    if (this.#sent?.id === plan.id) log.warn(facts, 'a generation of the ledger is written again');
    else log.info(facts, 'a generation of the ledger is written');
    await producer.send(missing.map((place) => this.#record(plan, place)));
    this.#sent = { id: plan.id, atMs: monotonicMs() };
  }

  #record(plan: RebuildPlan, { topic, partition }: Place) {
    const { codecs, key, topics, nowMs } = this.#options;
    if (topic === 'transfers') {
      return { topic: topics.transfers, partition, key: null, value: this.#fence(plan) };
    }
    const commands = [{ kind: 'StartGeneration', generation: plan.generation } as const];
    const value = sealEnvelope(codecs.orders, key, {
      partition,
      sequence: this.#sequences.next(nowMs()),
      commands,
    });
    return { topic: topics.orders, partition, key: null, value };
  }

  #fence({ id, generation }: RebuildPlan): Buffer {
    const { codecs, nowMs } = this.#options;
    const transferId = createHash('sha256').update(`${id} ${generation}`).digest();
    return codecs.transfers.encode({
      transferId,
      wallet: Buffer.alloc(20),
      amountMicro: 0,
      generation,
      timeMs: nowMs(),
    });
  }

  async #isFolded(ends: Ends): Promise<boolean> {
    const { ledger } = this.#options;
    for (const { topic, partition, end } of ends) {
      if ((await ledger.mark(topic, partition)) < end) return false;
    }
    return true;
  }

  async #newestGeneration(places: readonly Place[]): Promise<number> {
    const { ledger } = this.#options;
    let newest = 0;
    for (const { topic, partition } of places) {
      newest = Math.max(newest, await ledger.generation(topic, partition));
    }
    return newest;
  }

  async #endsNow(): Promise<Ends> {
    const { admin, topics } = this.#options;
    const ends: { topic: LedgerTopic; partition: number; end: number }[] = [];
    for (const topic of ['executions', 'transfers'] as const)
      for (const [partition, { high }] of await admin.bounds(topics[topic]))
        ends.push({ topic, partition, end: high });
    return ends;
  }
}
