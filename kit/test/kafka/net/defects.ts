import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from '@swc/core';
import type { LogClientLimits } from '../../../src/kafka/limits.ts';
import type { runSeed } from './run.ts';

/** A text of a source, which is in it once, and what stands there instead. */
type Edit = readonly [file: string, text: string, instead: string];

/** A protection that is taken out of the sources. */
export interface Defect {
  readonly edits?: readonly Edit[];
  readonly limits?: Partial<LogClientLimits>;
  /** Kinds of events that show it. */
  readonly kinds: readonly string[];
  /** Findings of which one must come. */
  readonly finds: readonly string[];
  /** The first seeds do not find it: for deep runs. */
  readonly isLong?: true;
}

const never = 1e9;

const neverStuck: Edit = [
  'membership-session.ts',
  'return nowMs - this.#signMs > limitMs;',
  'return nowMs - this.#signMs > limitMs + 1e9;',
];

const oneBroker: Edit = [
  'kafkajs-cluster.io.ts',
  '() => Object.keys(brokerPool.brokers);',
  '() => [];',
];

/** Each protection that the runs know how to miss. */
export const defects: Readonly<Record<string, Defect>> = {
  'lanes are compared with leaders only when lanes are added': {
    edits: [
      ['fetcher.io.ts', 'this.#wire.onLeaders(() => loops.refresh());', ''],
      ['fetch-loops.io.ts', 'this.#loops.delete(node);', 'this.#loops.delete(node); return;'],
      ['fetch-loops.io.ts', 'await wire.refresh().catch(() => {});\n      this.refresh();', ''],
      [
        'fetch-loops.io.ts',
        'watchdog } = this.#parts;\n    this.refresh();',
        'watchdog } = this.#parts;',
      ],
    ],
    kinds: ['a leader moves', 'all leaders move', 'a broker dies'],
    finds: ['not read in time', 'not read', 'not handled'],
  },
  'leaders are looked up after failures only': {
    limits: { leaderCheckMs: never },
    kinds: ['a broker is cut off', 'a leader moves'],
    finds: ['not read in time', 'not read'],
  },
  'stalls are those of whole brokers': {
    edits: [
      [
        'watchdog.ts',
        'return { late, stalled };',
        'return { late, stalled: late.size === [...lanes].length ? stalled : [] };',
      ],
    ],
    kinds: ['a partition cannot be read', 'two brokers name each other'],
    finds: ['stall not reported'],
    isLong: true,
  },
  'two places open a member': {
    edits: [
      [
        'membership.io.ts',
        "consumer.stop({ reason: 'moved' });",
        "this.#open(); consumer.stop({ reason: 'moved' });",
      ],
    ],
    kinds: ['the coordinator moves', 'a broker dies', 'requests go wrong'],
    finds: ['two members', 'foreign member', 'busy after close', 'goes on after close'],
  },
  'a member that is stopped while it joins is forgotten': {
    edits: [
      [
        'group-consumer.io.ts',
        'const leaving = this.#opening.then(() => this.#consumer.disconnect());',
        'const leaving = this.#consumer.disconnect();',
      ],
      [
        'group-consumer.io.ts',
        'await this.#consumer.connect();\n    if (this.#end !== null) return;',
        'await this.#consumer.connect();',
      ],
      [
        'group-consumer.io.ts',
        'topics: [...this.#topics] });\n    if (this.#end !== null) return;',
        'topics: [...this.#topics] });',
      ],
    ],
    kinds: ['no broker answers for long'],
    finds: ['two members', 'foreign member'],
  },
  'the end of a former leader is believed at once': {
    edits: [['fetcher.io.ts', '|| performance.now() >= believedMs', '|| true']],
    kinds: ['a broker is cut off', 'an application restores'],
    finds: ['partition stops'],
  },
  'metadata of one broker is looked at before heartbeats': {
    edits: [
      ['group-consumer.io.ts', 'metadataMaxAge: Number.POSITIVE_INFINITY', 'metadataMaxAge: 1_000'],
      oneBroker,
    ],
    kinds: ['a broker hangs'],
    finds: ['session lost without a cause', 'out of the group'],
  },
  'heartbeats are due by the wall clock': {
    edits: [
      [
        'group-consumer.io.ts',
        'heartbeatInterval: Number.NEGATIVE_INFINITY',
        'heartbeatInterval: 200',
      ],
      [
        'group-consumer.io.ts',
        'maxWaitTimeInMs: Math.min(limits.heartbeatMs, sessionMs / 3)',
        'maxWaitTimeInMs: 50',
      ],
      neverStuck,
    ],
    kinds: ['a wall clock is set'],
    finds: ['no member', 'out of the group'],
  },
  'a silent member is not started again': {
    edits: [
      neverStuck,
      ['membership-coordinator.io.ts', 'return found !== this.#known;', 'return false;'],
    ],
    kinds: ['a broker hangs', 'the coordinator moves'],
    finds: ['out of the group', 'no member'],
  },
  'contact counts from the answer to a heartbeat': {
    edits: [
      ['membership-session.ts', 'this.#contactMs = this.#answeredMs;', 'this.#contactMs = nowMs;'],
    ],
    kinds: ['a process stands still', 'a heartbeat is late'],
    finds: ['alive without a session'],
  },
  'contact counts from the answer to a join': {
    edits: [
      [
        'membership-session.ts',
        'this.#contactMs = this.#syncMs ?? nowMs;',
        'this.#contactMs = nowMs;',
      ],
    ],
    kinds: ['a heartbeat is late', 'the network is slow'],
    finds: ['alive without a session'],
    isLong: true,
  },
  'restores of a partition are not in one queue': {
    edits: [
      [
        'owned-partition.io.ts',
        'this.#waiting ??= this.#step(() => this.#restart());\n    return this.#waiting;',
        'return this.#restart();',
      ],
    ],
    kinds: ['an application restores'],
    finds: ['started beside itself', 'two lanes', 'read after revocation', 'out of order'],
  },
  'a lane that may not deliver waits for a fetch': {
    edits: [
      ['partition-lane.io.ts', 'else await this.#wakeup.wait(deliverCheckMs);', 'else return;'],
      ['owned-partition.io.ts', 'this.#lane?.wake();', ''],
    ],
    kinds: ['no broker answers for long', 'a heartbeat is late'],
    finds: ['not handled', 'not read in time'],
    isLong: true,
  },
  'a producer sends on after it has given up': {
    edits: [
      [
        'leader-lanes.io.ts',
        'if (this.#isDue || this.#closed) return;',
        'if (this.#isDue) return;',
      ],
      [
        'leader-lanes.io.ts',
        '#dispatch(): void {\n    if (this.#closed) return;',
        '#dispatch(): void {',
      ],
      ['producer.io.ts', 'else if (this.#ended) this.#refuse', 'else if (!this) this.#refuse'],
    ],
    kinds: ['a process ends before it may write'],
    finds: ['spins'],
  },
  'a closed client keeps what is opened late': {
    edits: [
      [
        'kafkajs-connection.io.ts',
        'this.#isClosed = true;\n    for (const socket of this.#open) socket.destroy(closed());',
        '',
      ],
    ],
    kinds: ['a process ends before it may write'],
    finds: ['open after close', 'busy after close', 'goes on after close'],
  },
};

const sources = join(__dirname, '../../../src/kafka');

/** The module of a source after its edits. Throws when a text is not in it exactly once. */
function edited(file: string, edits: readonly Edit[]): unknown {
  let source = readFileSync(join(sources, file), 'utf8');
  for (const [, text, instead] of edits) {
    const found = source.split(text).length - 1;
    if (found !== 1) throw new Error(`${file} has this text ${found} times: ${text}`);
    source = source.replace(text, () => instead);
  }
  const { code } = transformSync(source, {
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
  });
  const module = { exports: {} };
  const from = dirname(join(sources, file));
  const load = (name: string) => require(name.startsWith('.') ? join(from, name) : name);
  new Function('require', 'module', 'exports', code)(load, module, module.exports);
  return module.exports;
}

/** `runSeed` with the client as it is without a protection. */
export async function without({ edits = [] }: Defect): Promise<typeof runSeed> {
  const files = new Set(edits.map(([file]) => file));
  let run: typeof runSeed | undefined;
  await jest.isolateModulesAsync(async () => {
    for (const file of files) {
      const ofFile = edits.filter(([name]) => name === file);
      jest.doMock(join(sources, file), () => edited(file, ofFile));
    }
    ({ runSeed: run } = await import('./run.ts'));
  });
  for (const file of files) jest.dontMock(join(sources, file));
  if (run === undefined) throw new Error('nothing to run');
  return run;
}
