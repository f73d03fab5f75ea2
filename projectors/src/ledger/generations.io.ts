import { createHash, randomUUID } from 'node:crypto';
import type { LedgerTopic, RebuildPlan } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import type { SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import type { LogAdmin, LogProducer } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import { runRounds } from '@pm/kit/rounds';
import type { Envelope, Transfer } from '@pm/schemas';

export interface LedgerGenerationParts {
  readonly ledger: Ledger;
  readonly admin: Pick<LogAdmin, 'bounds'>;
  readonly producer: Pick<LogProducer, 'send'>;
  readonly codecs: {
    readonly orders: Pick<RecordCodec<Envelope>, 'encode'>;
    readonly transfers: Pick<RecordCodec<Transfer>, 'encode'>;
  };
  /** The LEDGER key. */
  readonly key: SignOffKey;
  /** Names on the broker. */
  readonly topics: Readonly<Record<LedgerTopic | 'orders', string>>;
  readonly log: Log;
  nowMs(): number;
  /** Lets the views fold again what the ledger has lost; called while it is behind. */
  foldAgain(): Promise<void>;
  onState(ready: boolean): void;
}

/** How often the state is looked at while the ledger is open: this long a loss may go unnoticed here, milliseconds. */
const openCheckMs = 1_000;
/** The same while it is not, milliseconds. */
const closedCheckMs = 200;
/** How long the log gets to begin a generation before it is asked once more, milliseconds. */
const resendMs = 5_000;

/** Where the log is folded from: a partition of a topic. */
interface Place {
  readonly topic: LedgerTopic;
  readonly partition: number;
}

/** What is folded from, and how far each must have come before a rebuild can be planned. */
type Ends = readonly (Place & { readonly end: number })[];

/**
 * Keeps the ledger open for reservations under a generation of the log.
 *
 * A ledger that is closed, never opened or gone with its Redis is folded anew by the views. Once it has come to the ends
 * that were seen when it was found closed, this plans the generation after the newest in the log, writes it into every
 * partition of `orders` and as a fence onto `transfers`, and opens the ledger when the fold has passed all of them: behind
 * its beginning a partition refuses every order reserved before, so that nothing is booked any more against a hold that
 * was lost, and everything booked before is in the fold (architecture.md, Money).
 *
 * Several processes may run it: they share one plan, and a generation begun twice begins once. A plan goes with the Redis it
 * was made in; a loss in the middle of a rebuild makes another.
 */
export class LedgerGenerationRunner {
  readonly #parts: LedgerGenerationParts;
  #ends: Ends | null = null;
  /** What the ledger was folded from when it was last found open. */
  #places: readonly Place[] | null = null;
  #sent: { readonly id: string; readonly atMs: number } | null = null;
  /** The newest generation this process has seen the ledger open under. */
  #opened = 0;
  #sequence = 0;

  constructor(parts: LedgerGenerationParts) {
    this.#parts = parts;
  }

  /** Sees to it from now on, until it is closed. */
  start(): { close(): Promise<void> } {
    return runRounds({
      round: async () => ((await this.check()) ? openCheckMs : closedCheckMs),
      onFailure: (error) => {
        this.#parts.log.warn({ err: error }, 'the state of the ledger could not be seen to');
        return openCheckMs;
      },
    });
  }

  /** One look and one step; gives whether the ledger is open. */
  async check(): Promise<boolean> {
    const isOpen = (await this.#isSound()) || (await this.#rebuild());
    if (isOpen) this.#ends = null;
    else this.#places = null;
    this.#parts.onState(isOpen);
    return isOpen;
  }

  /** Whether the ledger is open and may stay so; closes it when something of it may be lost. */
  async #isSound(): Promise<boolean> {
    const { ledger, log } = this.#parts;
    const { ready, generation } = await ledger.state();
    if (!ready) return false;
    this.#places ??= await this.#endsNow();
    const newest = await this.#newestGeneration(this.#places);
    const isSound = newest === generation && !(await ledger.isOfEarlierLife());
    if (isSound) {
      this.#opened = Math.max(this.#opened, generation);
      return true;
    }
    await ledger.close();
    log.warn({ generation, newest }, 'the ledger is closed: part of it may be lost');
    return false;
  }

  async #rebuild(): Promise<boolean> {
    const { ledger } = this.#parts;
    this.#ends ??= await this.#endsNow();
    if (!(await this.#isFolded(this.#ends))) {
      await this.#parts.foldAgain();
      return false;
    }
    const { generation } = await ledger.state();
    const newest = Math.max(generation, await this.#newestGeneration(this.#ends));
    const plan = await ledger.planRebuild({ id: randomUUID(), generation: newest + 1 });
    if (plan === null) return false;
    if (plan.generation <= this.#opened) {
      // Redis went back to before the ledger was opened under it.
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
    this.#opened = plan.generation;
    this.#parts.log.info({ generation: plan.generation }, 'the ledger is open');
    return true;
  }

  /** Writes the generation to where the fold has not come to its beginning yet. */
  async #begin(plan: RebuildPlan, places: readonly Place[]): Promise<void> {
    const { ledger, producer, log, nowMs } = this.#parts;
    if (this.#sent?.id === plan.id && nowMs() - this.#sent.atMs < resendMs) return;
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
    this.#sent = { id: plan.id, atMs: nowMs() };
  }

  #record(plan: RebuildPlan, { topic, partition }: Place) {
    const { codecs, key, topics } = this.#parts;
    if (topic === 'transfers') {
      return { topic: topics.transfers, partition, key: null, value: this.#fence(plan) };
    }
    const commands = [{ kind: 'StartGeneration', generation: plan.generation } as const];
    const value = sealEnvelope(codecs.orders, key, {
      partition,
      sequence: this.#sequence++,
      commands,
    });
    return { topic: topics.orders, partition, key: null, value };
  }

  #fence({ id, generation }: RebuildPlan): Buffer {
    const { codecs, nowMs } = this.#parts;
    const transferId = createHash('sha256').update(`${id} ${generation}`).digest();
    const nobody = { wallet: Buffer.alloc(20), amountMicro: 0 };
    return codecs.transfers.encode({ ...nobody, transferId, generation, timeMs: nowMs() });
  }

  async #isFolded(ends: Ends): Promise<boolean> {
    const { ledger } = this.#parts;
    for (const { topic, partition, end } of ends) {
      if ((await ledger.mark(topic, partition)) < end) return false;
    }
    return true;
  }

  async #newestGeneration(places: readonly Place[]): Promise<number> {
    const { ledger } = this.#parts;
    let newest = 0;
    for (const { topic, partition } of places) {
      newest = Math.max(newest, await ledger.generation(topic, partition));
    }
    return newest;
  }

  async #endsNow(): Promise<Ends> {
    const { admin, topics } = this.#parts;
    const ends: { topic: LedgerTopic; partition: number; end: number }[] = [];
    for (const topic of ['executions', 'transfers'] as const)
      for (const [partition, { high }] of await admin.bounds(topics[topic]))
        ends.push({ topic, partition, end: high });
    return ends;
  }
}
