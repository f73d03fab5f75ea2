import type { FolderFiles } from '@pm/kit/objects';
import type { MemoryFiles } from '../../../matcher/test/partition/memory-files.ts';
import type { Machine } from '../time/machine.ts';

const longestStepMs = 3;

/** A disk as code of a machine uses it: each step takes time, so that the machine can die before it, and may fail. */
export function diskOf(machine: Machine, files: MemoryFiles, failsWith: () => number): FolderFiles {
  const { random } = machine.scheduler;
  const step = async <T>(run: () => Promise<T>): Promise<T> => {
    await machine.sleep(random.next() * longestStepMs);
    if (random.chance(failsWith())) throw new Error('ENOSPC');
    return await run();
  };
  return {
    mkdir: () => step(() => files.mkdir()),
    open: (path, flags) =>
      step(async () => {
        const file = await files.open(path, flags);
        return {
          write: (part: Buffer, from: number) => step(() => file.write(part, from)),
          sync: () => step(() => file.sync()),
          close: () => file.close(),
        } as unknown as Awaited<ReturnType<FolderFiles['open']>>;
      }),
    rename: (from, to) => step(() => files.rename(from, to)),
    rm: (path) => step(() => files.rm(path)),
    readdir: (folder) => step(() => files.readdir(folder)),
    readFile: (path) => step(() => files.readFile(path)),
  };
}
