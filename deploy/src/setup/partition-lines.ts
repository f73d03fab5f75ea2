import type { PartitionsFound } from './partitions.ts';

/** Output of set-up about the partitions: one line, and one for each kind of partition that needs an operator. */
export function partitionLines(found: PartitionsFound): readonly string[] {
  const { opened, behindOthers, openBefore, cut, locked } = found;
  return [
    `partitions: ${opened.length} opened, ${openBefore.length} kept`,
    ...lineOf(behindOthers, 'had records before it was opened: its matcher rejects them'),
    ...lineOf(cut, 'WARNING: never opened and its first records are gone, so it stays unopened'),
    ...lineOf(locked, 'WARNING: not opened, since authority.json is not there: bring it back once'),
  ];
}

function lineOf(partitions: readonly number[], text: string): readonly string[] {
  return partitions.length === 0 ? [] : [`partition ${partitions.join(', ')}: ${text}`];
}
