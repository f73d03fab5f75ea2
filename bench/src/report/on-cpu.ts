/** Seconds of processor time this process has used so far, threads of the runtime (garbage collector) included. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Runs of `work` a second of processor time, for work of some microseconds: as many as fit `forSeconds`. */
export function ratePerCpuSecond(work: (index: number) => void, forSeconds: number): number {
  const batch = 16;
  const started = cpuSeconds();
  let [runs, used] = [0, 0];
  while (used < forSeconds) {
    for (let index = 0; index < batch; index += 1) work(runs + index);
    runs += batch;
    used = cpuSeconds() - started;
  }
  return runs / used;
}
