import { StackError } from '../local/stack-error.ts';
import { type ExchangeKeys, loadOrMakeKeys, readKeys } from '../setup/keys.ts';
import { knownOpenings, type Openings } from './fee-wallet.ts';

/**
 * The keys of an installation are its identity: its log was opened with one of them, and what it holds is signed with
 * the others. Returns those in `file`, and makes new ones only for a log that was never opened. Throws a `StackError`
 * before anything is changed.
 */
export async function installationKeys(
  file: string,
  readOpened: () => Promise<Openings>,
): Promise<ExchangeKeys> {
  return (await existingKeys(file, readOpened)) ?? loadOrMakeKeys(file);
}

/** The keys in `file`; null where `installationKeys` would make new ones. Throws as it does, and changes nothing. */
export async function existingKeys(
  file: string,
  readOpened: () => Promise<Openings>,
): Promise<ExchangeKeys | null> {
  const found = readKeys(file);
  if (found !== null) return found;
  const openings = await readOpened();
  if (openings.size === 0) return null;
  throw new StackError(
    'BAD_DESCRIPTION',
    `${file} is missing, and the log belongs to an installation: ${openings.size} of its partitions were opened with ` +
      `the key ${openerOf(openings)}. New keys are never made for an existing log: every partition would stop. ` +
      'Restore the file from a backup, or name the data folder of that installation (--data). Nothing was changed.',
  );
}

/** Throws a `StackError` when a partition was opened with another key than these: its matcher would stop. */
export function refuseOtherKeys(openings: Openings, keys: Pick<ExchangeKeys, 'openingKey'>): void {
  const own = keys.openingKey;
  for (const [partition, { operatorKey }] of knownOpenings(openings)) {
    const opener = operatorKey.toString('hex');
    if (opener === own) continue;
    throw new StackError(
      'BAD_DESCRIPTION',
      `partition ${partition} was opened with the key ${opener}, and keys.json of this installation has ${own}: it is ` +
        'that of another installation, or is a new one. Restore the file that belongs to the log. Nothing was changed.',
    );
  }
}

/** Throws a `StackError` when `--fresh` would remove the keys and snapshots of a log that stays. */
export function refuseFreshAgainst(openings: Openings): void {
  if (openings.size === 0) return;
  throw new StackError(
    'BAD_DESCRIPTION',
    `--fresh removes keys and snapshots of this folder, but not the log on engines of another installation, of which ` +
      `${openings.size} partitions were opened with the key ${openerOf(openings)}: all of them would stop. Start without ` +
      '--fresh to go on, or delete the topics first to begin from scratch. Nothing was changed.',
  );
}

function openerOf(openings: Openings): string {
  const [first] = knownOpenings(openings);
  return first?.[1].operatorKey.toString('hex') ?? 'of a first record that is gone';
}
