import { readArguments } from './report/arguments.ts';
import { publish } from './report/report.ts';
import { collectSections, type Section } from './streams/sections.ts';

/**
 * `npm run bench:streams`: delivery, fan-out, many connections, resume, orders beside them, and the first view of the
 * console. With flags only those parts, which are printed and not written.
 */
const parts = ['delivery', 'fan-out', 'connections', 'resume', 'console', 'orders'] as const;
const given = readArguments(
  {
    seconds: { default: 15, min: 3, max: 60 },
    clients: { default: 2_000, min: 10, max: 5_000 },
    readers: { default: 100, min: 1, max: 1_000 },
    rounds: { default: 3, min: 1, max: 10 },
  },
  parts,
);
const named = parts.filter((part) => given.flag(part));
if (named.length > 0 && given.write === true) throw new RangeError('--write takes all parts');
const sections = await collectSections(new Set(named.length > 0 ? named : parts), {
  seconds: given.number('seconds'),
  connections: given.number('clients'),
  readers: given.number('readers'),
  rounds: given.number('rounds'),
});
const all = <T>(of: (section: Section) => readonly T[]): T[] => sections.flatMap(of);
publish(
  {
    name: 'streams',
    title: 'Streams, beside Kafka and a bare server',
    conditions: all(({ conditions }) => conditions),
    tables: all(({ tables }) => tables),
    notes: all(({ notes }) => notes),
    figures: Object.fromEntries(sections.map(({ part, figures }) => [part, figures])),
  },
  given,
);
