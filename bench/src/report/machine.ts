import { cpus, loadavg, totalmem } from 'node:os';

/** Load averages of the last minute in a run. */
export interface Loads {
  readonly before: number;
  /** Highest of the readings, one a second. */
  readonly highest: number;
  readonly atEnd: number;
}

/** Reads the load average while a benchmark runs. */
export interface MachineWatch {
  loads(): Loads;
}

/** Above this load average before the start others use the machine too, and figures are marked. */
const quietLoadMax = 1;
const readEveryMs = 1_000;

/** Begins with the load before the run, so it is called before anything is started. */
export function watchMachine(): MachineWatch {
  const before = loadNow();
  let highest = before;
  const read = () => {
    highest = Math.max(highest, loadNow());
  };
  // It must not keep the process alive.
  setInterval(read, readEveryMs).unref();
  return {
    loads() {
      read();
      return { before, highest, atEnd: loadNow() };
    },
  };
}

/** The machine in one line, with the load before and during the run. */
export function machineText(loads: Loads): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? 'unknown processor';
  const memoryGib = Math.round(totalmem() / 2 ** 30);
  const node = `Node ${process.version}, ${process.platform} ${process.arch}`;
  return `${processors.length} cores, ${model}, ${memoryGib} GiB; ${node}; ${loadsText(loads)}`;
}

export function loadsText({ before, highest, atEnd }: Loads): string {
  const [first, most, last] = [before, highest, atEnd].map((load) => load.toFixed(1));
  return `load average ${first} before the start, at most ${most} during it, ${last} at its end`;
}

/** Remark in the heading of figures that were taken on a busy machine; empty for a quiet one. */
export function busyMark({ before }: Pick<Loads, 'before'>): string {
  if (before <= quietLoadMax) return '';
  return ` (busy machine: load average ${before.toFixed(1)} before the start)`;
}

/** Load average of the last minute. */
export function loadText(): string {
  return loadNow().toFixed(1);
}

function loadNow(): number {
  return loadavg()[0] ?? 0;
}
