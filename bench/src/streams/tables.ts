import {
  mebibytesText,
  msText,
  quantile,
  rateText,
  ratioText,
  spreadOf,
  spreadText,
} from '../report/numbers.ts';
import type { Table } from '../report/report.ts';
import type { Connections, OrdersPhase } from './connections.ts';
import type { ConsoleView } from './console.ts';
import type { DeliveryPhase } from './delivery.ts';
import type { FanOut, FanOutRate } from './fan-out.ts';
import type { Resume } from './resume.ts';

const cells = (samples: readonly number[]): string[] =>
  [0.5, 0.9, 0.99, 1].map((q) => msText(quantile(samples, q)));

/** The quotient of two quantiles. */
function ratioAt(q: number, of: readonly number[], to: readonly number[]): string {
  return ratioText(quantile(of, q) / quantile(to, q));
}

export function deliveryTable(phases: readonly DeliveryPhase[]): Table {
  return {
    title: 'Matched to received, and one Kafka round trip, ms (target: p99 3 round trips at 300/s)',
    head: ['orders/s', 'what', 'samples', 'p50', 'p90', 'p99', 'max', 'load average'],
    rows: phases.flatMap(({ perSecond, delivered, roundTripMs, loadAverage }) => {
      const { latenciesMs } = delivered;
      const trips = [0.5, 0.9, 0.99, 1].map((q) => ratioAt(q, latenciesMs, roundTripMs));
      const rate = String(perSecond);
      return [
        [rate, 'received', String(latenciesMs.length), ...cells(latenciesMs), loadAverage],
        [rate, 'round trip', String(roundTripMs.length), ...cells(roundTripMs), ''],
        [rate, '**ratio**', '', ...trips.map((ratio) => `**${ratio}**`), ''],
      ];
    }),
  };
}

export function fanOutTable(all: readonly FanOut[]): Table {
  const spread = (rates: readonly FanOutRate[], of: keyof FanOutRate) =>
    spreadText(spreadOf(rates.map((rate) => rate[of])));
  return {
    title:
      'Messages delivered per second of processor time, min / median / max (target: 0.8 of a bare server)',
    head: ['messages of a turn', 'readers', 'hub', 'bare `ws`', 'ratio', 'by the wall clock, hub'],
    rows: all.map((one) => [
      one.name,
      String(one.readers),
      spread(one.hub, 'perCpuSecond'),
      spread(one.bare, 'perCpuSecond'),
      `**${ratioText(fanOutRatio(one))}**`,
      spread(one.hub, 'perSecond'),
    ]),
  };
}

/** Median of the slices. */
export function fanOutRatio({ hub, bare }: FanOut): number {
  const each = hub.map(
    ({ perCpuSecond }, at) => perCpuSecond / (bare[at]?.perCpuSecond ?? Number.NaN),
  );
  return spreadOf(each).median;
}

export function connectionsTable(found: Connections): Table {
  const { connections, beforeBytes, withBytes, subscribedMs, answer } = found;
  const perConnection = (withBytes - beforeBytes) / connections;
  return {
    title: 'Connections with ten books each, no one trades (target: heartbeats within 1,500 ms)',
    head: [
      ...['connections', 'all subscribed, s', 'memory before', 'with them', 'kB a connection'],
      ...['longest time without a heartbeat, ms p50 / p99 / max', 'closed', 'tried again'],
    ],
    rows: [
      [
        String(connections),
        (subscribedMs / 1_000).toFixed(1),
        mebibytesText(beforeBytes),
        mebibytesText(withBytes),
        (perConnection / 1_000).toFixed(1),
        [0.5, 0.99, 1].map((q) => msText(quantile(answer.gapsMs, q))).join(' / '),
        closedText(answer.closed),
        String(answer.retries),
      ],
    ],
  };
}

export function ordersTable(
  without: readonly OrdersPhase[],
  withReaders: readonly OrdersPhase[],
): Table {
  const [bare, loaded] = [without, withReaders].map((phases) =>
    phases.flatMap(({ load }) => load.latenciesMs),
  );
  const row = (name: string, phases: readonly OrdersPhase[]) => [
    name,
    String(phases.reduce((sum, { load }) => sum + load.latenciesMs.length, 0)),
    ...cells(phases.flatMap(({ load }) => load.latenciesMs)),
    outcomesText(phases),
    phases.map(({ loadAverage }) => loadAverage).join(', '),
  ];
  const ratios = [0.5, 0.9, 0.99, 1].map((q) => `**${ratioAt(q, loaded ?? [], bare ?? [])}**`);
  return {
    title: 'POST /order with and without readers, ms (target: p99 1.2 times that without)',
    head: ['streams', 'orders', 'p50', 'p90', 'p99', 'max', 'outcomes', 'load average'],
    rows: [
      row('no readers', without),
      row('with readers', withReaders),
      ['**ratio**', '', ...ratios, '', ''],
    ],
  };
}

/** Messages and the longest gaps of the readers during the orders, as text. */
export function readersText(phases: readonly OrdersPhase[], seconds: number): string {
  const answers = phases.flatMap(({ readers }) => readers ?? []);
  const messages = answers.reduce((sum, one) => sum + one.messages, 0) / phases.length / seconds;
  const gaps = answers.flatMap(({ gapsMs }) => gapsMs);
  const queued = Math.max(...phases.map(({ queuedBytes }) => queuedBytes));
  const closed = answers.map((one) => closedText(one.closed)).join(', ');
  return `Readers got ${rateText(messages)} messages a second together; the longest time without a heartbeat was ${msText(quantile(gaps, 0.99))} ms at p99 of the connections and ${msText(quantile(gaps, 1))} ms at most. For those that read nothing up to ${mebibytesText(queued)} waited in the service. Closed in the rounds: ${closed}.`;
}

function outcomesText(phases: readonly OrdersPhase[]): string {
  const counts: Record<string, number> = {};
  for (const [outcome, count] of phases.flatMap(({ load }) => Object.entries(load.outcomes))) {
    counts[outcome] = (counts[outcome] ?? 0) + count;
  }
  return Object.entries(counts)
    .map(([outcome, count]) => `${outcome} ${count}`)
    .join(', ');
}

function closedText(closed: Readonly<Record<string, number>>): string {
  const each = Object.entries(closed).map(([code, count]) => `${count} with ${code}`);
  return each.length === 0 ? '0' : each.join(', ');
}

export function resumeTable({ messages, records, runs }: Resume): Table {
  const seconds = spreadOf(runs.map((run) => run.seconds));
  return {
    title: 'Resume of the orders of a market out of Kafka, min / median / max',
    head: ['messages', 'records of the log', 'MiB sent', 'seconds', 'messages/s'],
    rows: [
      [
        messages.toLocaleString('en'),
        records.toLocaleString('en'),
        ((runs[0]?.bytes ?? Number.NaN) / 2 ** 20).toFixed(1),
        [seconds.min, seconds.median, seconds.max].map((one) => one.toFixed(2)).join(' / '),
        spreadText(spreadOf(runs.map((run) => messages / run.seconds))),
      ],
    ],
  };
}

export function consoleTable({ files, bytes, paint }: ConsoleView): Table {
  const painted =
    paint === null
      ? 'not measured: there is no Chromium on this machine (PM_CHROMIUM can name one)'
      : [0, 0.5, 1].map((q) => msText(quantile(paint.runsMs, q))).join(' / ');
  return {
    title: 'First view of the console',
    head: ['files', 'kB compressed', 'first contentful paint, ms, min / median / max', 'browser'],
    rows: [[String(files), (bytes / 1_000).toFixed(1), painted, paint?.browser ?? 'none']],
  };
}
