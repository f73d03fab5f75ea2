import type { AvroRecord, Infer } from '../avro/schema.ts';
import { address20 } from './types.ts';

/** The compacted topic `profiles`: how a wallet wants to be shown. Key: the wallet as text. */
export const profile = {
  type: 'record',
  name: 'Profile',
  doc: 'What the holder of a wallet says of himself. Names need not be unique.',
  fields: [
    { name: 'wallet', type: address20, doc: 'Whose.' },
    { name: 'name', type: 'string', doc: 'Shown name; empty when none.' },
    { name: 'bio', type: 'string', doc: 'A few words; may be empty.' },
    { name: 'image', type: 'string', doc: 'Address of a picture, or empty.' },
    { name: 'xName', type: 'string', doc: 'Name at X without @, or empty.' },
    {
      name: 'showName',
      type: 'boolean',
      doc: 'False shows the pseudonym instead of the name.',
    },
    { name: 'createdAtMs', type: 'long', doc: 'First set, Unix milliseconds.' },
    { name: 'updatedAtMs', type: 'long', doc: 'Last set, Unix milliseconds.' },
  ],
} as const satisfies AvroRecord;

export type Profile = Infer<typeof profile>;

/** Longest fields of a profile, in code points. */
export const profileMaxChars = { name: 40, bio: 500, image: 500, xName: 15 } as const;

/** Wallets whose profile is kept; those that come later cannot set one. About 1 kB each. */
export const profilesHeldMax = 200_000;
