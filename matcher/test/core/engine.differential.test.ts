import { createHash } from 'node:crypto';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import { newestRules } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import { runLength } from '../../../kit/test/long-runs.ts';
import { EventWriter } from '../../src/core/events/event-writer.ts';
import { defaultLimits, Engine, keyIdOf, type Limits } from '../../src/core/index.ts';
import { decodeState } from '../../src/core/state/decode-state.ts';
import { ClaimedLog } from './claimed-log.ts';
import { envelopeOf, opening, partition } from './commands.ts';
import { NaiveEngine } from './naive/naive-engine.ts';
import { tightLimits } from './random-log.ts';
import { stateText } from './state-text.ts';

/** Short logs by many seeds visit more than long ones by a few, and keep the twin small. */
const commandsPerSeedMax = 10_000;
/** Every second seed uses up every budget (`tightLimits`), and every fourth one the memory of ids, too. */
const fullLimits: Limits = { ...tightLimits, rememberedIds: 100 };
const ownerKey = Buffer.alloc(32, 77);
/** The limit of ids and claims are of the newest rules, under which ticks are those of an owner. */
const newestOpening: readonly Command[] = [
  opening,
  { kind: 'SetRules', version: newestRules },
  { kind: 'SetKey', publicKey: ownerKey, role: 'OWNER', active: true },
];
const groups = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
/** Between them they come to every kind of leftover below within a few hundred commands. */
const rareSeeds = [28, 840, 738];
const commandsTotal = runLength({ test: 50_000, deep: 1_000_000 });
const seedsPerGroup = Math.ceil(commandsTotal / commandsPerSeedMax / groups.length);
const commandsPerSeed = Math.ceil(commandsTotal / seedsPerGroup / groups.length);
const seedAt = (at: number): number => rareSeeds[at] ?? 1 + at - rareSeeds.length;
const timeoutMs = 60_000 + commandsTotal / 4;

/** Both engines on the log of a seed. */
class Comparison {
  readonly engine: Engine;
  readonly twin: NaiveEngine;
  readonly log: ClaimedLog;
  private readonly scratch = new EventWriter();
  private readonly seen: Set<string>;
  private readonly hasOwner: boolean;

  constructor(seed: number, seen: Set<string>) {
    const limits = [fullLimits, defaultLimits, tightLimits, defaultLimits][seed % 4] as Limits;
    this.engine = new Engine(partition, limits);
    this.engine.apply(envelopeOf(seed % 4 === 0 ? newestOpening : [opening], 'OPERATOR'), 0);
    this.twin = new NaiveEngine(opening, limits);
    this.seen = seen;
    this.hasOwner = seed % 4 === 0;
    this.twin.isNewest = this.hasOwner;
    this.log = new ClaimedLog(seed, this.hasOwner);
  }

  /** The next record gives the same bytes; gives how many commands it had. */
  step(record: number): number {
    const { envelope, isOperator } = this.log.next();
    const keyId = isOperator || !this.hasOwner ? envelope.keyId : keyIdOf(ownerKey);
    const { written, timeMs } = this.engine.apply({ ...envelope, keyId, sequence: record }, record);
    const events = this.twin.apply(envelope, isOperator, record);
    if (!this.areSame(written, events)) {
      const of = { record, commands: envelope.commands };
      expect({ ...of, events: written.values() }).toEqual({ ...of, events });
    }
    for (const event of events) note(this.seen, event);
    const { openOrderCount, nextExpiryMs } = this.engine;
    const summary = [timeMs, openOrderCount, nextExpiryMs];
    if (summary.join() !== this.twin.summary().join()) expect(summary).toEqual(this.twin.summary());
    return envelope.commands.length;
  }

  /** The state in a snapshot of the engine is that of the twin. */
  compareStates(): void {
    this.engine.assertInvariants();
    const state = stateText(decodeState(this.engine.encodeState(), newestRules));
    const expected = this.twin.stateText();
    if (hashOf(state) !== hashOf(expected)) expect(state).toBe(expected);
  }

  private areSame(written: EventWriter, events: readonly ExecutionEvent[]): boolean {
    this.scratch.clear();
    for (const event of events) this.scratch.push(event);
    return written.bytes().equals(this.scratch.bytes());
  }
}

describe('the engine and its naive twin', () => {
  const seen = new Set<string>();

  function compare(seed: number): void {
    const both = new Comparison(seed, seen);
    for (let record = 1, commands = 0; commands < commandsPerSeed; record += 1) {
      commands += both.step(record);
      if (record % 500 === 0) both.engine.assertInvariants();
    }
    both.compareStates();
  }

  it.each(groups)(
    'give the same events for every record and come to the same state, group %d',
    (group) => {
      for (let of = 0; of < seedsPerGroup; of += 1) compare(seedAt(group * seedsPerGroup + of));
    },
    timeoutMs,
  );

  it('have covered the orders that tight budgets leave to later records, and every end of a delay', () => {
    const leftovers = [
      'OrderDelayed',
      'OrderRepeated DELAYED',
      'OrderPlaced LIVE later',
      'OrderPlaced MATCHED later',
      'OrderPlaced CANCELED later',
      'OrderRefused fenced later',
      'OrderRefused fok_not_filled later',
      'OrderRefused market_resolved later',
      'OrderRefused system_paused later',
      'OrderRefused self_trade later',
      'OrderCanceled SELF_TRADE later',
      'OrderRefused fenced',
      'OrderCanceled EXPIRED later',
      'OrderCanceled MARKET later',
      'OrderRefused too_late',
      'OrderRefused too_late later',
      'OrderRefused post_only_would_cross later',
      'OrderCanceled TOO_LATE',
      'OrderCanceled TOO_LATE later',
      'CancelRefused fenced',
      'CancelRefused order_delayed',
      'OrderRefused fill_limit',
      'CommandRefused too_many_open_orders',
      'OrderRefused overloaded',
      'CommandRefused overloaded',
      'CommandRefused fenced',
    ];
    expect(leftovers.filter((kind) => !seen.has(kind))).toEqual([]);
  });
});

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Events of every record are not counted. */
const usual = new Set(['LevelChanged', 'TopChanged', 'MoneyMoved', 'Fill']);

function note(seen: Set<string>, event: ExecutionEvent): void {
  if (usual.has(event.kind)) return;
  const words = [event.kind, 'reason' in event && event.reason, 'code' in event && event.code];
  const status = 'status' in event && event.status;
  const later = 'command' in event && event.command === -1 && 'later';
  seen.add([...words, status, later].filter(Boolean).join(' '));
}
