import { usageOf } from '@pm/deploy/local/process-table';
import autocannon from 'autocannon';
import { startChild } from './child/child.ts';
import { fillBook } from './reads/book.ts';
import { readArguments } from './report/arguments.ts';
import { ratioText, spreadOf, spreadText } from './report/numbers.ts';
import { publish } from './report/report.ts';
import { openWorld } from './world/world.ts';

/** `npm run bench:reads`: GET /book at query-api against a bare fastify answer of the same bytes. */
const given = readArguments({
  rounds: { default: 5, min: 1, max: 30 },
  seconds: { default: 4, min: 1, max: 60 },
  connections: { default: 32, min: 1, max: 256 },
});
const [rounds, seconds, connections] = [
  given.number('rounds'),
  given.number('seconds'),
  given.number('connections'),
];

interface Sample {
  readonly wall: number;
  readonly onCpu: number;
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

async function load(url: string, pid: number): Promise<Sample> {
  const before = usageOf(pid).cpuSeconds;
  const { requests, latency, duration, errors, timeouts, non2xx } = await autocannon({
    url,
    connections,
    duration: seconds,
  });
  const used = usageOf(pid).cpuSeconds - before;
  const { p50, p99 } = latency;
  const failed = errors + timeouts + non2xx;
  return { wall: requests.total / duration, onCpu: requests.total / used, p50, p99, failed };
}

const world = await openWorld({ markets: 1, traders: 2 });
try {
  const token = await fillBook(world);
  const path = `/book?token_id=${token}`;
  const served = `http://127.0.0.1:${world.stack.ports.queryApi}${path}`;
  const answer = await fetch(served);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const contentType = answer.headers.get('content-type') ?? 'application/json';
  const bare = startChild<void>('reads-bare-server', {
    base64: bytes.toString('base64'),
    contentType,
  });
  const { info } = (await bare.ready) as { readonly info: string };
  const queryApi = world.stack.supervisor.status().find(({ name }) => name === 'query-api');
  const samples = { served: [] as Sample[], bare: [] as Sample[] };
  for (let round = -1; round < rounds; round += 1) {
    const one = await load(served, queryApi?.pid ?? 0);
    const other = await load(info + path, bare.pid);
    if (round < 0) continue;
    samples.served.push(one);
    samples.bare.push(other);
  }
  await bare.go();
  publishReads(samples, bytes.length);
} finally {
  await world.end();
}

function publishReads(samples: { served: Sample[]; bare: Sample[] }, bytes: number): void {
  const ratio = (field: 'wall' | 'onCpu') =>
    spreadOf(
      samples.served.map((one, at) => one[field] / (samples.bare[at]?.[field] ?? Number.NaN)),
    );
  const row = (name: string, all: readonly Sample[]) => [
    name,
    spreadText(spreadOf(all.map((one) => one.onCpu))),
    spreadText(spreadOf(all.map((one) => one.wall))),
    `${spreadOf(all.map((one) => one.p50)).median} / ${spreadOf(all.map((one) => one.p99)).median}`,
    String(all.reduce((sum, one) => sum + one.failed, 0)),
  ];
  publish(
    {
      name: 'reads',
      title: 'GET /book against a bare fastify answer of the same bytes',
      conditions: [
        `A book of ${bytes} bytes that does not change; ${connections} connections kept open (autocannon, in the process of the benchmark), straight at query-api; the bare server is a process of its own.`,
        `One round to warm up, then ${rounds} in turn of ${seconds} s each. The rest of the stack runs idle beside.`,
      ],
      tables: [
        {
          title: 'Requests a second, min / median / max (target: ratio 0.7)',
          head: ['server', 'per second of its processor time', 'wall', 'ms p50 / p99', 'failed'],
          rows: [row('query-api', samples.served), row('bare fastify', samples.bare)],
        },
      ],
      notes: [
        `Ratio of query-api to bare, median of the rounds: ${ratioText(ratio('onCpu').median)} on the processor, ${ratioText(ratio('wall').median)} by the wall clock.`,
      ],
      figures: { samples, onCpu: ratio('onCpu'), wall: ratio('wall') },
    },
    given,
  );
}
