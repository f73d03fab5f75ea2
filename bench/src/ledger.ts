import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '@pm/kit/log';
import { openRedis } from '@pm/kit/redis';
import { ordersPerRequestMax } from '@pm/schemas/http/trading';
import { type CallRates, measureCalls } from './ledger/calls.ts';
import { type LoopRates, measureLoops } from './ledger/loops.ts';
import type { BySync } from './ledger/sync.ts';
import { readArguments } from './report/arguments.ts';
import { msText, quantile, ratioText, spreadOf, spreadText } from './report/numbers.ts';
import { publish, type Table } from './report/report.ts';
import { openWorld } from './world/world.ts';

/**
 * `npm run bench:ledger`: what it costs that the Redis of the ledger writes to its disk before it answers (`appendfsync
 * always`) and not within a second (`everysec`).
 */
const given = readArguments({
  rounds: { default: 4, min: 1, max: 50 },
  seconds: { default: 1, min: 0.1, max: 30 },
  loopRounds: { default: 4, min: 1, max: 20 },
  loopSeconds: { default: 2, min: 1, max: 30 },
});
const calls = { rounds: given.number('rounds'), seconds: given.number('seconds') };
const loops = { rounds: given.number('loopRounds'), seconds: given.number('loopSeconds') };

const flushes = 300;
const flushMs = flushTimesMs();
const [flushMedian, flushLate] = [0.5, 0.99].map((q) => msText(quantile(flushMs, q)));

const world = await openWorld({ markets: ordersPerRequestMax, traders: 16 });
const open = () => openRedis({ url: world.stack.urls.redis, log: silentLog });
const clients = [open(), open()] as const;
try {
  const callRates = await measureCalls(clients, calls);
  const loopRates = await measureLoops(world, clients[0], loops);
  publish(
    {
      name: 'ledger',
      title: 'The ledger written to disk before it answers, against within a second',
      conditions: [
        'One Redis with an append-only file; `appendfsync` is set to `everysec` and `always` in turn between runs, which change places each round.',
        `Calls: the scripts of the ledger as ingress (reserve) and projectors (apply) call them, each over one connection, ${calls.rounds} rounds of ${calls.seconds} s a line after one that is not counted. The exchange of the second table runs beside them, idle.`,
        `Orders: the closed loop of \`bench:orders\`, straight at ingress, with the whole pipeline, ${loops.rounds} rounds of ${loops.seconds} s a line after one to warm up. The load generator runs on the same cores.`,
        'Ratios are the medians of the quotients of each round. The cost is that of a flush of this disk: another one has other figures.',
        `A plain flush before the run (256 bytes appended, fsync; ${flushes} of them): median ${flushMedian} ms, p99 ${flushLate} ms. The file of Redis is in the same folder for temporary files.`,
      ],
      tables: [callTable(callRates), loopTable(loopRates)],
      notes: ['Rates: min / median / max.'],
      figures: { flushMs, callRates, loopRates },
    },
    given,
  );
} finally {
  for (const client of clients) client.disconnect();
  await world.end();
}

/** Times of appending 256 bytes to a file and flushing it, milliseconds. */
function flushTimesMs(): readonly number[] {
  const folder = mkdtempSync(join(tmpdir(), 'pm-bench-'));
  const file = openSync(join(folder, 'appended'), 'a');
  try {
    return Array.from({ length: flushes }, () => {
      const from = performance.now();
      writeSync(file, Buffer.alloc(256));
      fsyncSync(file);
      return performance.now() - from;
    });
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true });
  }
}

function quotient({ everysec, always }: BySync): string {
  const quotients = always.map((rate, round) => rate / (everysec[round] ?? Number.NaN));
  return ratioText(spreadOf(quotients).median);
}

function callTable(all: readonly CallRates[]): Table {
  return {
    title: 'Orders a second through the scripts of the ledger',
    head: ['what', 'everysec', 'always', 'always / everysec', 'median ms, everysec', 'always'],
    rows: all.map(({ what, rates, medianMs }) => [
      what,
      spreadText(spreadOf(rates.everysec)),
      spreadText(spreadOf(rates.always)),
      quotient(rates),
      msText(spreadOf(medianMs.everysec).median),
      msText(spreadOf(medianMs.always).median),
    ]),
  };
}

function loopTable(all: readonly LoopRates[]): Table {
  return {
    title: 'Orders placed a second over HTTP, closed loop',
    head: ['connections', 'orders a request', 'everysec', 'always', 'always / everysec', 'failed'],
    rows: all.map(({ connections, perRequest, rates, failed }) => [
      String(connections),
      String(perRequest),
      spreadText(spreadOf(rates.everysec)),
      spreadText(spreadOf(rates.always)),
      quotient(rates),
      String(failed),
    ]),
  };
}
