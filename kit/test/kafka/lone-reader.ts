import type { LogReader } from '../../src/kafka/index.ts';

/** Methods of a reader that concern fetches, for a reader of a memory log, which has none. */
export const loneReader: Pick<LogReader, 'share' | 'hurry' | 'answeredMs' | 'atEndMs'> = {
  share: async () => {},
  hurry: () => {},
  answeredMs: () => performance.now(),
  atEndMs: () => performance.now(),
};
