import type { Exchange, Slot } from './exchange.ts';
import { calm } from './time/network.ts';

/** A kind of fault: how often it comes on average, and what it does. */
interface FaultKind {
  readonly name: string;
  /** Milliseconds. */
  readonly everyMs: number;
  happen(exchange: Exchange, strike: Strike): void;
}

interface Strike {
  /** A place of one of these roles. */
  slot(...roles: readonly Slot['role'][]): Slot;
  ms(least: number, most: number): number;
}

const hourMs = 3_600_000;

const faultKinds: readonly FaultKind[] = [
  {
    name: 'a process dies',
    everyMs: 11_000,
    happen: (exchange, { slot, ms }) =>
      exchange.crash(slot('matcher', 'ingress', 'projector'), ms(200, 3_000)),
  },
  {
    name: 'a process stands still',
    everyMs: 22_000,
    happen: (_, { slot, ms }) =>
      slot('matcher', 'ingress', 'projector').machine.pause(ms(300, 14_000)),
  },
  {
    name: 'a process works on while others get its partitions',
    everyMs: 40_000,
    happen: (_, { slot, ms }) => {
      const { machine } = slot('matcher', 'projector');
      machine.unheardUntilMs = machine.scheduler.nowMs + ms(7_000, 15_000);
    },
  },
  {
    name: 'a broker dies',
    everyMs: 25_000,
    happen: ({ brokers, scheduler }, { ms }) =>
      brokers.killNode(scheduler.random.below(3), ms(1_000, 8_000)),
  },
  {
    name: 'messages get lost',
    everyMs: 20_000,
    happen: ({ network, scheduler }, { ms }) => {
      network.faults = { requestLoss: 0.04, answerLoss: 0.08, slow: 0.1 };
      scheduler.after(ms(500, 5_000), null, () => {
        network.faults = calm;
      });
    },
  },
  {
    name: 'a clock is wrong',
    everyMs: 30_000,
    happen: ({ scheduler }, { slot, ms }) => {
      const { machine } = slot('matcher', 'ingress');
      machine.skewMs = ms(-1_500, 1_500);
      scheduler.after(ms(1_000, 8_000), null, () => {
        machine.skewMs = 0;
      });
    },
  },
  {
    name: 'a clock is an hour off',
    everyMs: 60_000,
    happen: ({ scheduler }, { slot, ms }) => {
      const { machine } = slot('ingress', 'projector');
      machine.skewMs = scheduler.random.chance(0.5) ? hourMs : -hourMs;
      scheduler.after(ms(1_000, 20_000), null, () => {
        machine.skewMs = 0;
      });
    },
  },
  {
    name: 'Redis is away',
    everyMs: 50_000,
    happen: ({ ledger, scheduler }, { ms }) => {
      ledger.isAway = true;
      scheduler.after(ms(500, 5_000), null, () => {
        ledger.isAway = false;
      });
    },
  },
  {
    name: 'Redis loses everything',
    everyMs: 90_000,
    happen: ({ ledger }) => ledger.lose(),
  },
  {
    name: 'Redis loses everything while a broker dies',
    everyMs: 120_000,
    happen: ({ ledger, brokers, scheduler }, { ms }) => {
      brokers.killNode(scheduler.random.below(3), ms(500, 4_000));
      scheduler.after(ms(10, 1_500), null, () => ledger.lose());
    },
  },
  {
    name: 'Redis comes back as it was',
    everyMs: 90_000,
    happen: ({ ledger, scheduler }, { ms }) => {
      ledger.save();
      scheduler.after(ms(10, 3_000), null, () => ledger.rewind());
    },
  },
  {
    name: 'ClickHouse is away',
    everyMs: 50_000,
    happen: ({ tables, scheduler }, { ms }) => {
      tables.isAway = true;
      scheduler.after(ms(500, 8_000), null, () => {
        tables.isAway = false;
      });
    },
  },
  {
    name: 'ClickHouse dies in an insert',
    everyMs: 50_000,
    happen: ({ tables, scheduler }, { ms }) => {
      tables.diesInInsert = true;
      scheduler.after(ms(3_000, 8_000), null, () => {
        tables.diesInInsert = false;
        tables.isAway = false;
      });
    },
  },
  {
    name: 'disks fail',
    everyMs: 60_000,
    happen: (exchange, { ms }) => {
      exchange.diskFailures = 0.2;
      exchange.scheduler.after(ms(1_000, 10_000), null, () => {
        exchange.diskFailures = 0;
      });
    },
  },
];

/** Plans faults until a moment: each kind at random, independently of the others, so many times as often as usual. */
export function planFaults(exchange: Exchange, untilMs: number, times: number): void {
  const { scheduler } = exchange;
  const { random } = scheduler;
  const strike: Strike = {
    slot: (...roles) => random.pick(exchange.slots.filter(({ role }) => roles.includes(role))),
    ms: (least, most) => random.integer(least, most),
  };
  exchange.brokers.deaths = 0.02 * times;
  for (const { everyMs, happen } of faultKinds) {
    const next = () => {
      const waitMs = -Math.log(1 - random.next()) * (everyMs / times);
      if (scheduler.nowMs + waitMs > untilMs) return;
      scheduler.after(waitMs, null, () => {
        happen(exchange, strike);
        next();
      });
    };
    next();
  }
}
