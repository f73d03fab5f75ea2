import type { LogReader } from '../../src/kafka/index.ts';

/** What a reader of a memory log does about fetches, of which it has none. */
export const loneReader: Pick<LogReader, 'share' | 'hurry' | 'answeredMs' | 'atEndMs'> = {
  share: async () => {},
  hurry: () => {},
  answeredMs: () => performance.now(),
  atEndMs: () => performance.now(),
};
