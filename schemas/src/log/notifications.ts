import type { AvroRecord, Infer } from '../avro/schema.ts';
import { address20 } from './types.ts';

/**
 * The compacted topic `notification-marks`: which notifications a wallet has deleted. Key: the wallet as text.
 * Notifications themselves are read off the log; these are the only facts about them that are not on it.
 */
export const notificationMark = {
  type: 'record',
  name: 'NotificationMark',
  doc: 'What a wallet does not want to be told again.',
  fields: [
    { name: 'wallet', type: address20, doc: 'Whose.' },
    {
      name: 'deleted',
      type: { type: 'array', items: 'long' },
      doc: 'Ids, oldest first; the newest are kept.',
    },
    { name: 'changedAtMs', type: 'long', doc: 'Unix milliseconds.' },
  ],
} as const satisfies AvroRecord;

export type NotificationMark = Infer<typeof notificationMark>;
