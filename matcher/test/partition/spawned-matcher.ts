import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { PartitionStatus } from '../../src/partition/lifecycle.ts';
import { keys } from './sealed-records.ts';

const main = join(__dirname, '../../../deploy/dist/programs/matcher.mjs');

/** A matcher as its own process, seen through its operator's listener. */
export class SpawnedMatcher {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #opsPort: Promise<number>;
  /** Its log, for a message when a test fails. */
  readonly lines: string[] = [];

  constructor(environment: Readonly<Record<string, string>>) {
    const { PATH } = process.env;
    this.#child = spawn(process.execPath, [main], {
      env: { PATH, PM_OPS_PORT: '0', ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#exited = once(this.#child, 'exit');
    this.#opsPort = this.#readLog();
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  async status(): Promise<readonly PartitionStatus[]> {
    const answer = await fetch(`http://127.0.0.1:${await this.#opsPort}/status`);
    // It has none while it starts.
    const { partitions = [] } = (await answer.json()) as {
      partitions?: readonly PartitionStatus[];
    };
    return partitions;
  }

  /** Partitions in this state. */
  async partitionsIn(state: PartitionStatus['state']): Promise<readonly number[]> {
    const partitions = await this.status();
    return partitions.filter((one) => one.state === state).map((one) => one.partition);
  }

  /** Partitions whose outputs it writes. */
  async owned(): Promise<readonly number[]> {
    const partitions = await this.status();
    return partitions.filter((one) => one.role === 'owner').map((one) => one.partition);
  }

  async isReady(): Promise<boolean> {
    return (await fetch(`http://127.0.0.1:${await this.#opsPort}/ready`)).ok;
  }

  /** The sum of the samples of a metric whose labels contain the text. */
  async metric(name: string, label: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${await this.#opsPort}/metrics`);
    const lines = (await answer.text()).split('\n');
    const samples = lines.filter((line) => line.startsWith(`${name}{`) && line.includes(label));
    return samples.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill(signal);
    await this.#exited;
  }

  /** A long pause of the whole process, as by a hypervisor. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  #readLog(): Promise<number> {
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('no output');
    return new Promise((resolve, reject) => {
      createInterface({ input: stdout }).on('line', (line) => {
        this.lines.push(line);
        const { opsPort } = JSON.parse(line) as { opsPort?: number };
        if (opsPort !== undefined) resolve(opsPort);
      });
      this.#exited.then(() => reject(new Error(`ended early:\n${this.lines.join('\n')}`)), reject);
    });
  }
}

/** Environment variables of a matcher of these tests. */
export function matcherEnvironment({
  broker,
  topicPrefix,
  instance,
}: {
  readonly broker: string;
  readonly topicPrefix: string;
  readonly instance: string;
}): Readonly<Record<string, string>> {
  return {
    PM_KAFKA_BROKERS: broker,
    PM_ROOT_KEY: keys.operator.publicKey.toString('hex'),
    PM_TOPIC_PREFIX: topicPrefix,
    PM_OWNER_SEED: Buffer.alloc(32, 2).toString('hex'),
    PM_REPLICATION_MIN: '1',
    PM_OPERATOR_KEY: keys.operator.publicKey.toString('hex'),
    PM_TICK_MS: '100',
    PM_INSTANCE: instance,
  };
}

/** Whether each has all four partitions live, and each partition one owner. */
export async function areReady(...both: readonly SpawnedMatcher[]): Promise<boolean> {
  const live = await Promise.all(both.map((one) => one.partitionsIn('live')));
  const owned = await Promise.all(both.map((one) => one.owned()));
  return live.every(({ length }) => length === 4) && owned.flat().length === 4;
}

/** Whether it has processed all inputs before these ends. */
export async function hasRead(
  matcher: SpawnedMatcher,
  ends: ReadonlyMap<number, { readonly high: number }>,
): Promise<boolean> {
  const status = await matcher.status();
  return status.every((one) => one.inOffset >= (ends.get(one.partition)?.high ?? 0) - 1);
}
