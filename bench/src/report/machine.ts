import { cpus, loadavg, totalmem } from 'node:os';

/** The machine in one line; the load is that at the time of the call. */
export function machineText(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? 'unknown processor';
  const memoryGib = Math.round(totalmem() / 2 ** 30);
  const node = `Node ${process.version}, ${process.platform} ${process.arch}`;
  return `${processors.length} cores, ${model}, ${memoryGib} GiB; ${node}; load average ${loadText()}`;
}

/** Load average of the last minute. */
export function loadText(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
