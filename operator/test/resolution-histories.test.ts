import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CommandResult } from '@pm/domain/commands/result-waiters';
import { Fault } from '@pm/kit/fault';
import type { Approval } from '@pm/schemas/log/approvals';
import type { CatalogEntry } from '@pm/schemas/log/catalog';
import type { Command } from '@pm/schemas/log/orders';
import { MemoryTopic } from '../../ingress/test/table-fixture.ts';
import { runLength } from '../../kit/test/long-runs.ts';
import { seeded } from '../../kit/test/seeded.ts';
import { retryMs, settleMs, unshownMaxMs } from '../src/resolutions.io.ts';
import { carriedOut, event, market, openOperator, token, tokenNamed } from './operator-fixture.ts';

const histories = runLength({ test: 5, deep: 40 });
const stepsOfHistory = 30;
const markets = 3;
const payouts = ['0', '0.5', '1'] as const;
const windowMs = 60_000;
const challengeMs = 100_000;

/** A resolution as a person with a notebook would keep it. */
interface Noted {
  readonly market: number;
  readonly payout: string;
  readonly expiresAtMs: number;
  state: 'pending' | 'rejected' | 'proposed' | 'challenged';
  paysAtMs: number;
}

const refusedAgain: CommandResult = {
  kind: 'executed',
  place: { partition: 0, inOffset: 1 },
  events: [
    {
      index: 0,
      event: { kind: 'CommandRefused', command: 0, requestId: null, code: 'market_resolved' },
    },
  ],
};

/**
 * A random history of one exchange: its log and its book outlive the processes; every answer is compared with the
 * notebook, and so is every payment of the book.
 */
class History {
  readonly #below: (end: number) => number;
  readonly #isTwoPersons: boolean;
  readonly #approvalsTopic = new MemoryTopic<Approval>();
  readonly #catalogTopic = new MemoryTopic<CatalogEntry>();
  readonly #notes = new Map<string, Noted>();
  readonly #paid = new Map<number, string>();
  #processes: Awaited<ReturnType<typeof openOperator>>[] = [];
  #nowMs = 1_700_000_000_000;

  constructor(seed: number) {
    this.#below = seeded(seed);
    this.#isTwoPersons = this.#below(3) > 0;
  }

  async run(): Promise<void> {
    await this.#restart(1 + this.#below(2));
    const listed = Array.from({ length: markets }, (_, index) => market(`m-${index}`));
    await this.#any().post('/operator/catalog', { events: [event('a', listed)] });
    for (let step = 0; step < stepsOfHistory; step += 1) {
      await this.#settled();
      await this.#step();
    }
    await this.#end();
  }

  async #step(): Promise<void> {
    const kind = this.#below(10);
    if (kind < 3) return await this.#propose();
    if (kind < 5) return await this.#decide();
    if (kind === 5) return await this.#challenge();
    if (kind === 6) return await this.#restart(1 + this.#below(2));
    if (kind === 7) return this.#spoil();
    this.#pass(this.#below(challengeMs));
    await this.#tick();
  }

  async #propose(): Promise<void> {
    const number = 1 + this.#below(markets);
    const payout = this.#pick(payouts);
    const answer = await this.#ask(`/operator/markets/${number}/resolve`, { payout0: payout });
    const paid = this.#paid.get(number);
    const proposed = this.#proposedOf(number);
    if (proposed !== undefined) {
      // It is still proposed to whoever has not heard of the payment.
      const known = paid === undefined ? [202] : [200, 202];
      expect(proposed.payout === payout ? known : [409]).toContain(answer.status);
      return;
    }
    expect(answer.status).toBe(202);
    const { id } = answer.body;
    const known = this.#notes.get(id);
    if (known !== undefined) {
      expect([known.market, known.payout, known.state]).toEqual([number, payout, 'pending']);
      return;
    }
    const times = { expiresAtMs: this.#nowMs + windowMs, paysAtMs: this.#nowMs + challengeMs };
    const state = this.#isTwoPersons ? 'pending' : 'proposed';
    this.#notes.set(id, { market: number, payout, state, ...times });
  }

  async #decide(): Promise<void> {
    const found = this.#anyNote();
    if (found === null || !this.#isTwoPersons) return;
    const [id, note] = found;
    const isOpen = note.state === 'pending' && this.#nowMs < note.expiresAtMs;
    const path = `/operator/approvals/${id}`;
    if (this.#below(4) > 0) return await this.#approve(id, note, isOpen);
    const { status } = await this.#ask(path, { decision: 'reject' }, 'alice');
    expect(status).toBe(isOpen || note.state === 'rejected' ? 200 : 409);
    if (isOpen) note.state = 'rejected';
  }

  async #approve(id: string, note: Noted, isOpen: boolean): Promise<void> {
    const path = `/operator/approvals/${id}`;
    const { status } = await this.#ask(path, { decision: 'approve' }, 'alice');
    if (!isOpen) {
      expect(status).toBe(note.state === 'proposed' ? 200 : 409);
    } else if (this.#proposedOf(note.market) === undefined) {
      expect(status).toBe(200);
      note.state = 'proposed';
      note.paysAtMs = this.#nowMs + challengeMs;
    } else {
      // One that was paid may be approved once more, which pays nothing.
      const isRepeated = this.#paid.get(note.market) === note.payout;
      expect(isRepeated ? [200, 409] : [409]).toContain(status);
      if (status === 200) this.#notes.delete(id);
    }
  }

  async #challenge(): Promise<void> {
    const found = this.#anyNote();
    if (found === null) return;
    const [id, note] = found;
    const path = `/operator/approvals/${id}/challenge`;
    const { status } = await this.#ask(path, { reason: 'no' }, this.#pick(['viewer', 'alice']));
    const isPending = note.state === 'pending' && this.#nowMs < note.expiresAtMs;
    const isOpen = isPending || (note.state === 'proposed' && this.#nowMs < note.paysAtMs);
    expect(status).toBe(isOpen || note.state === 'challenged' ? 200 : 409);
    if (isOpen) note.state = 'challenged';
  }

  /** Sends a request again until it is known what came of it, by the same process or after a restart. */
  async #ask(path: string, body: object, who: 'operator' | 'viewer' | 'alice' = 'operator') {
    const shown = who === 'operator' ? token : tokenNamed(who);
    const headers = { authorization: `Bearer ${shown}` };
    if (this.#below(6) === 0) this.#catalogTopic.fault = new Fault('not_sent', 'retry');
    if (this.#below(12) === 0) this.#approvalsTopic.fault = new Fault('not_sent', 'retry');
    let answer = await this.#any().post(path, body, headers);
    this.#catalogTopic.fault = null;
    this.#approvalsTopic.fault = null;
    for (let tries = 0; answer.status === 503 && tries < 3; tries += 1) {
      if (this.#below(2) === 0) await this.#restart(1);
      for (const { fakes } of this.#processes) fakes.answer = (command) => this.#book(command);
      await this.#settled();
      answer = await this.#any().post(path, body, headers);
    }
    return answer;
  }

  /** The book: nothing pays before its window, nothing challenged pays, and nothing twice. */
  #book(command: Command): CommandResult {
    if (command.kind !== 'ResolveMarket') return carriedOut(command);
    const { market: number, payout0 } = command;
    if (this.#paid.has(number)) return refusedAgain;
    const proposed = this.#proposedOf(number);
    expect(proposed).toMatchObject({ state: 'proposed' });
    expect(Number(proposed?.payout) * 10_000).toBe(payout0);
    expect(this.#nowMs).toBeGreaterThanOrEqual(proposed?.paysAtMs ?? Number.POSITIVE_INFINITY);
    this.#paid.set(number, proposed?.payout ?? '');
    return carriedOut(command);
  }

  /** The next commands have no result, or never reach the book; the topic of the catalog may be away. */
  #spoil(): void {
    const kind = this.#below(3);
    for (const { fakes } of this.#processes) {
      fakes.answer = (command) => {
        if (kind === 0) this.#book(command);
        return kind === 2 ? ({ kind: 'unsent', code: 'overloaded' } as never) : { kind: 'pending' };
      };
    }
  }

  async #restart(count: number): Promise<void> {
    await this.#settled();
    await Promise.all(this.#processes.map(({ app }) => app.close()));
    const secondPerson = {
      isOn: this.#isTwoPersons,
      limitsMicro: { deposit: 0, withdrawal: 0 },
      windowMs,
      challengeMs,
    };
    const topics = { approvalsTopic: this.#approvalsTopic, catalogTopic: this.#catalogTopic };
    this.#processes = await Promise.all(
      Array.from({ length: count }, () => openOperator(undefined, { secondPerson, ...topics })),
    );
    for (const { fakes } of this.#processes) {
      fakes.nowMs = this.#nowMs;
      fakes.answer = (command) => this.#book(command);
    }
  }

  #pass(ms: number): void {
    this.#nowMs += ms;
    for (const { fakes } of this.#processes) fakes.nowMs = this.#nowMs;
  }

  /** All processes at the same moment. */
  async #tick(): Promise<void> {
    await Promise.all(this.#processes.map(({ services }) => services.resolutions.tick()));
  }

  /** Every process has read what was written. */
  async #settled(): Promise<void> {
    for (let turn = 0; turn < 4; turn += 1) await nextTurn();
  }

  /** Everything works again, and all windows end: what nobody challenged has paid once, and nothing else. */
  async #end(): Promise<void> {
    await this.#restart(1 + this.#below(2));
    for (const ms of [challengeMs + settleMs, unshownMaxMs, retryMs, unshownMaxMs, retryMs]) {
      this.#pass(ms);
      await this.#tick();
      await this.#settled();
    }
    for (const { catalog, services } of this.#processes) {
      for (let number = 1; number <= markets; number += 1) {
        const proposed = this.#proposedOf(number);
        expect(this.#paid.get(number)).toBe(proposed?.payout);
        const listed = catalog.findMarket(number);
        expect(listed?.payout0).toBe(proposed ? Number(proposed.payout) * 10_000 : -1);
        if (proposed === undefined) expect(listed?.proposedPayout0).toBe(-1);
      }
      expect(services.resolutions.dueCount()).toBe(0);
    }
    await Promise.all(this.#processes.map(({ app }) => app.close()));
  }

  /** The one resolution of a market that nobody has challenged. */
  #proposedOf(number: number): Noted | undefined {
    const found = [...this.#notes.values()].filter(
      (note) => note.market === number && note.state === 'proposed',
    );
    expect(found.length).toBeLessThanOrEqual(1);
    return found[0];
  }

  #any() {
    return this.#pick(this.#processes);
  }

  #anyNote(): [string, Noted] | null {
    const notes = [...this.#notes];
    return notes.length === 0 ? null : this.#pick(notes);
  }

  #pick<T>(all: readonly T[]): T {
    return all[this.#below(all.length)] as T;
  }
}

test('in random histories nothing pays before its window, nothing challenged pays, and the rest pays once', async () => {
  for (let seed = 1; seed <= histories; seed += 1) {
    await new History(seed).run().catch((error: unknown) => {
      throw new Error(`the history of seed ${seed} differs`, { cause: error });
    });
  }
}, 300_000);
