import type { ManagedProcess } from './managed-process.ts';
import type { SupervisedProcess } from './supervised-process.ts';

/** The starts that a dependency on a process waits for, and how many of them are enough. */
interface QuorumStarts {
  readonly starts: readonly Promise<void>[];
  readonly enough: number;
}

/** Starts that a dependency on a process waits for. For a process that is one of several: the starts of all of them. */
export function quorumOf(
  name: string,
  added: readonly SupervisedProcess[],
  started: ReadonlyMap<string, Promise<void>>,
): QuorumStarts {
  const quorum = added.find((process) => process.name === name)?.description.quorum;
  const members = added.filter(({ description }) => description.quorum?.name === quorum?.name);
  const names = quorum === undefined ? [name] : members.map((member) => member.name);
  const starts = names.map((one) => started.get(one) ?? Promise.resolve());
  return { starts, enough: quorum?.enough ?? 1 };
}

/** Resolves when enough have resolved; rejects with the failure by which that became impossible. */
export function enoughOf({ starts, enough }: QuorumStarts): Promise<void> {
  return new Promise((resolve, reject) => {
    let [ready, failed] = [0, 0];
    for (const start of starts) {
      start.then(
        () => {
          ready += 1;
          if (ready === enough) resolve();
        },
        (error: unknown) => {
          failed += 1;
          if (failed > starts.length - enough) reject(error);
        },
      );
    }
  });
}

/** Name of the group of processes that do the same, or stand in for each other. */
export function groupOf({ quorum, standInGroup }: ManagedProcess): string | undefined {
  return quorum?.name ?? standInGroup;
}
