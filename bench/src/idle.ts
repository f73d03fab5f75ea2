import { setTimeout as sleep } from 'node:timers/promises';
import { readArguments } from './report/arguments.ts';
import { mebibytesText, percentText } from './report/numbers.ts';
import { publish } from './report/report.ts';
import { openWorld } from './world/world.ts';

/** `npm run bench:idle`: resources of the stack without trading. */
const given = readArguments({
  seconds: { default: 30, min: 5, max: 600 },
  settle: { default: 15, min: 0, max: 120 },
});
const seconds = given.number('seconds');
const settle = given.number('settle');

/** No service of ours may use more (one process of Node, resident). */
const serviceLimitBytes = 300 * 2 ** 20;
const services = new Set(['matcher', 'ingress', 'operator', 'projectors', 'query-api', 'gateway']);

const world = await openWorld({ markets: 20, traders: 2 });
try {
  await sleep(settle * 1000);
  const before = world.stack.supervisor.status();
  await sleep(seconds * 1000);
  const used = world.stack.supervisor.status().map((now) => {
    const then = before.find(({ name }) => name === now.name);
    const share = (now.cpuSeconds - (then?.cpuSeconds ?? 0)) / seconds;
    const { name, rssBytes, restarts } = now;
    return { name, share, rssBytes, restarts, isOurs: services.has(name) };
  });
  const total = used.reduce((sum, one) => sum + one.share, 0);
  const over = used.filter((one) => one.isOurs && one.rssBytes > serviceLimitBytes);
  publish(
    {
      name: 'idle',
      title: 'The stack when no one trades',
      conditions: [
        `Engines, services and gateway as npm start starts them, 8 partitions, 20 markets, no demo; ${settle} s after the start, over ${seconds} s. CPU is a share of one core.`,
        'Not included: the supervisor itself.',
      ],
      tables: [
        {
          title: 'Processes',
          head: ['process', 'CPU', 'resident', 'restarts'],
          rows: used.map(({ name, share, rssBytes, restarts }) => [
            name,
            percentText(share),
            mebibytesText(rssBytes),
            String(restarts),
          ]),
        },
      ],
      notes: [
        `All together ${percentText(total)} of one core.`,
        over.length === 0
          ? 'No service passes 300 MiB.'
          : `Over 300 MiB: ${over.map(({ name }) => name).join(', ')}.`,
      ],
      figures: { seconds, processes: used, total },
    },
    given,
  );
} finally {
  await world.end();
}
