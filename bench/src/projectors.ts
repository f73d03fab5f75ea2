import { catalogKey } from '@pm/schemas/log/catalog';
import { topics } from '@pm/schemas/log/topics';
import { catalogEntries } from './catalog/made-up.ts';
import { openLog, operatorProducer } from './partition/log.ts';
import { append, runBurst } from './projectors/burst.ts';
import { assertSame } from './projectors/contents.ts';
import { Rounds } from './projectors/rounds.ts';
import { type Round, reportOf } from './projectors/tables.ts';
import { makeTrading } from './projectors/trading.ts';
import { readArguments } from './report/arguments.ts';
import { publish } from './report/report.ts';
import { booksOf, type Shape } from './stream/shape.ts';
import { openInstallation } from './world/installation.ts';

/**
 * `npm run bench:projectors`: executions into ClickHouse beside a bare insert of the same rows, and lag after a burst.
 */
const given = readArguments({
  commands: { default: 300_000, min: 2_000, max: 3_000_000 },
  rounds: { default: 3, min: 1, max: 10 },
});
const rounds = given.number('rounds');
const perEnvelope = 256;
const shape: Shape = {
  name: 'busy',
  seed: 23,
  commands: given.number('commands'),
  markets: 100,
  tick: 10,
  // A third of the commands is a fill.
  share: { cancel: 0.25, take: 0.3 },
};
/**
 * Requests of the bare insert on their way: one after the other, and as many as the local ClickHouse runs at a time.
 */
const flights = [1, 4] as const;

const place = await openInstallation();
const log = await openLog(place.place, 'bench');
const producer = await log.client.producer();
try {
  const startMs = Math.floor(Date.now() / 60_000) * 60_000;
  console.error(`${shape.commands} commands are applied`);
  const trading = makeTrading(log.executions, { shape, perEnvelope, perSecond: 2_000, startMs });
  await listMarkets();
  await append(producer, trading.opening);
  const from = trading.opening.length;
  console.error(`a burst of ${trading.fills} fills`);
  const burst = await runBurst(place, producer, { from, values: trading.stream });
  const found = await measure(from + trading.stream.length);
  const { commands, fills } = trading;
  const bytes = trading.stream.reduce((sum, value) => sum + value.length, 0);
  const made = { commands, fills, records: trading.stream.length, bytes, perEnvelope };
  publish(reportOf({ trading: made, burst, ...found }), given);
} finally {
  await log.client.close();
  await place.stop();
}

async function listMarkets(): Promise<void> {
  const codec = await log.schemas.codecFor(topics.catalog);
  const operator = await operatorProducer(log, place.keys);
  for (const entry of catalogEntries(booksOf(shape), 7)) {
    const record = { topic: topics.catalog.name, partition: 0, value: codec.encode(entry) };
    await operator.send([{ ...record, key: Buffer.from(catalogKey(entry)) }]);
  }
}

async function measure(end: number) {
  const passes = new Rounds(place, end);
  const { recording, passage: recorded } = await passes.record();
  console.error(`${recording.inserts.length} inserts recorded`);
  const check = (contents: typeof recorded.contents, what: string) =>
    assertSame(recorded.contents, contents, what);
  check((await passes.bare(recording, 1)).contents, 'a bare insert and what was recorded');
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const projected = await passes.project();
    check(projected.contents, 'two projections of one log');
    const bare = [];
    for (const inFlight of flights) bare.push(await passes.bare(recording, inFlight));
    for (const { contents } of bare) check(contents, 'a bare insert and what was recorded');
    measured.push({ projected, bare });
    console.error(`round ${round + 1} of ${rounds}: ${JSON.stringify(projected.used)}`);
  }
  const profile = await passes.profile();
  await passes.close();
  return { inserts: recording.inserts, rounds: measured, profile };
}
