import { setImmediate as turn } from 'node:timers/promises';

/**
 * Outcome of a parked call. `lost`: it never arrives. `unanswered`: it takes effect, and its caller gets a failure.
 * `late`: a record that arrives some time after its caller has heard that nothing is known of it.
 */
export type Fate = 'done' | 'lost' | 'unanswered' | 'late';

interface ParkedCall {
  readonly label: string;
  readonly process: object;
  resume(fate: Fate): Promise<void>;
  /** Takes effect after its process has died; absent where a dead process has no effect any more. */
  readonly afterDeath?: (() => void) | undefined;
}

/**
 * Calls of several processes to Redis and to the log, one at a time: each waits here until the history says that it is
 * carried out. As every script and every append is atomic, all interleavings of processes are orders of these calls.
 */
export class ParkedCalls {
  #calls: ParkedCall[] = [];

  get count(): number {
    return this.#calls.length;
  }

  labels(): readonly string[] {
    return this.#calls.map(({ label }) => label);
  }

  /** A call that `run` carries out. `fault` makes the error of a call without an answer; without it none fails. */
  park<T>(
    { label, process, afterDeath }: Pick<ParkedCall, 'label' | 'process' | 'afterDeath'>,
    run: () => Promise<T>,
    fault?: (fate: Exclude<Fate, 'done'>) => Error,
  ): Promise<T> {
    const carryOut = async (fate: Fate): Promise<T> => {
      if (fate === 'late') afterDeath?.();
      if (fault === undefined || fate === 'done') return await run();
      if (fate === 'unanswered') await run();
      throw fault(fate);
    };
    return new Promise<T>((resolve, reject) => {
      const resume = (fate: Fate) => carryOut(fate).then(resolve, reject);
      this.#calls.push({ label, process, resume, afterDeath });
    });
  }

  /** Carries one of the calls out; resolves when its process has come to its next call or end. */
  async resume(index: number, fate: Fate = 'done'): Promise<void> {
    const [call] = this.#calls.splice(index % Math.max(1, this.#calls.length), 1);
    if (call === undefined) return;
    await call.resume(fate);
    await turn();
  }

  /** Carries out the oldest call with this label; of one process where it is named. Throws when there is none. */
  async resumeNamed(label: string, fate: Fate = 'done', process?: object): Promise<void> {
    if (!(await this.resumeIfThere(label, fate, process))) throw new Error(`no call ${label}`);
  }

  /** As `resumeNamed`; false when there is none. */
  async resumeIfThere(label: string, fate: Fate = 'done', process?: object): Promise<boolean> {
    await turn();
    const index = this.#calls.findIndex(
      (call) => call.label === label && (process === undefined || call.process === process),
    );
    if (index === -1) return false;
    await this.resume(index, fate);
    return true;
  }

  /** The process is dead: its calls never return. Records on their way may still arrive. */
  kill(process: object, doRecordsArrive: boolean): void {
    const dead = this.#calls.filter((call) => call.process === process);
    this.#calls = this.#calls.filter((call) => call.process !== process);
    if (doRecordsArrive) for (const { afterDeath } of dead) afterDeath?.();
  }
}
