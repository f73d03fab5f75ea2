import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import type { KeyRole } from '@pm/schemas/log/types';
import { replaceFile } from '../local/replace-file.ts';
import { StackError } from '../local/stack-error.ts';

/**
 * The keys of one installation, as hex text; generated once and stored in its data folder, readable by its owner only.
 * The seeds of its two authorities are in a file of their own, which may be kept elsewhere.
 */
export interface ExchangeKeys {
  /** Public half of the root key, which lists the keys of services on `service-keys`. */
  readonly rootKey: string;
  /** Public half of the opening key, which opens partitions and lists keys in them. */
  readonly openingKey: string;
  /** Where the seeds of both belong, by path; not a part of the file. */
  readonly authorityFile: string;
  /** Ed25519 seed: lists, changes and resolves markets, grants rights. */
  readonly operatorSeed: string;
  /** Ed25519 seed: signs the clock of the partitions. */
  readonly ownerSeed: string;
  /** Ed25519 seed: signs off orders. */
  readonly ingressSeed: string;
  /** Ed25519 seed: begins generations of the collateral ledger. */
  readonly ledgerSeed: string;
  /** API secrets and passphrases are derived from it. */
  readonly keySecret: string;
  /** More secrets whose API keys are valid, separated by commas; there during a rotation only (operator.md). */
  readonly acceptedKeySecrets?: string;
  /** Names of resting orders in public books are made with it. */
  readonly bookSecret: string;
  /** Bearer token of the operator's listener. */
  readonly operatorToken: string;
  /** Seeds of rotations that are not complete, by role (sealed-topics.md). */
  readonly nextSeeds?: Readonly<Partial<Record<RotatedRole, string>>>;
  /** Keys that were in use before a rotation and are not retired yet, the newest last. */
  readonly formerKeys?: readonly FormerKey[];
}

export interface FormerKey {
  readonly role: RotatedRole;
  /** Raw Ed25519, hex. */
  readonly publicKey: string;
}

/** Roles whose keys can be replaced, each with the field of its seed in use. */
export const rotatedSeeds = {
  INGRESS: 'ingressSeed',
  OWNER: 'ownerSeed',
  LEDGER: 'ledgerSeed',
  OPERATOR: 'operatorSeed',
} as const satisfies Partial<Record<KeyRole, keyof ExchangeKeys>>;

export type RotatedRole = keyof typeof rotatedSeeds;

/** Seeds of the keys that appoint others. No service gets them: set-up and `npm run keys` sign with them. */
export interface AuthoritySeeds {
  /** Ed25519 seed of the root key. */
  readonly rootSeed: string;
  /** Ed25519 seed of the opening key. */
  readonly openingSeed: string;
}

/** Name of the file of these seeds beside `keys.json`. */
export const authorityName = 'authority.json';

const fields = [
  'rootKey',
  'openingKey',
  'operatorSeed',
  'ownerSeed',
  'ingressSeed',
  'ledgerSeed',
  'keySecret',
  'bookSecret',
  'operatorToken',
] as const;
/** Fields that every version of `keys.json` has had: a file without one of them is not a file of an older version. */
const firstFields = [
  'operatorSeed',
  'ownerSeed',
  'ingressSeed',
  'keySecret',
  'operatorToken',
] as const satisfies readonly (typeof fields)[number][];
const authorityFields = ['rootSeed', 'openingSeed'] as const;
const hex32 = /^[0-9a-f]{64}$/;
const hex32List = /^[0-9a-f]{64}(,[0-9a-f]{64})*$/;

/**
 * The keys in `file`, generated with their authorities when there is none; missing keys of later versions are added,
 * and seeds of authorities that an earlier version kept in it move to their own file. Throws a `StackError` for a
 * malformed file.
 */
export function loadOrMakeKeys(file: string): ExchangeKeys {
  return readKeys(file) ?? makeKeys(file);
}

/**
 * The keys in `file`; missing keys of later versions are added, and seeds of authorities that an earlier version kept
 * in it move to their own file. Null when there is no file. Throws a `StackError` for a malformed file.
 */
export function readKeys(file: string): ExchangeKeys | null {
  return existsSync(file) ? checked(parsedFile(file), file) : null;
}

/** Throws a `StackError` for a file without a JSON object, e.g. one that was cut off. */
function parsedFile(file: string): Readonly<Record<string, unknown>> {
  const text = readFileSync(file, 'utf8');
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found === 'object' && found !== null) return { ...found };
  } catch {
    // Said below: the text of the error may have a part of a secret.
  }
  throw new StackError(
    'BAD_DESCRIPTION',
    `${file} is damaged: it is no JSON object. ${asInBackup}`,
  );
}

const asInBackup =
  'Move it away and restore it from a backup (npm run restore). Nothing was changed.';

/**
 * The seeds of the authorities of these keys. Throws a `StackError` when their file is not there, or is of others.
 *
 * @param purpose what they are needed for.
 */
export function readAuthority(
  { authorityFile, rootKey, openingKey }: ExchangeKeys,
  purpose: string,
): AuthoritySeeds {
  const seeds = authorityIn(authorityFile);
  if (seeds === null)
    throw new StackError(
      'BAD_DESCRIPTION',
      `${authorityFile} is not there, and ${purpose} needs it: bring it back for as long as that takes`,
    );
  if (rootKey === publicKeyOf(seeds.rootSeed) && openingKey === publicKeyOf(seeds.openingSeed))
    return seeds;
  throw new StackError('BAD_DESCRIPTION', `${authorityFile} belongs to other keys`);
}

function authorityIn(file: string): AuthoritySeeds | null {
  if (!existsSync(file)) return null;
  const { rootSeed = '', openingSeed = '' } = parsedFile(file) as Partial<AuthoritySeeds>;
  refuseMalformed({ rootSeed, openingSeed }, authorityFields, file);
  return { rootSeed, openingSeed };
}

/** The public half of a seed, hex. */
export function publicKeyOf(seed: string): string {
  return openSignOffKey(Buffer.from(seed, 'hex')).publicKey.toString('hex');
}

const secret = () => randomBytes(32).toString('hex');

/** Authorities first. A file of them that is there already is kept: nothing brings its seeds back. */
function makeKeys(file: string): ExchangeKeys {
  const made = { rootSeed: secret(), openingSeed: secret() };
  const authorities = saveAuthority(authorityIn(authorityFileOf(file)) ?? made, file);
  return saveKeys({ ...authorities, ...madeSecrets() }, file);
}

function madeSecrets() {
  return {
    operatorSeed: secret(),
    ownerSeed: secret(),
    ingressSeed: secret(),
    ledgerSeed: secret(),
    keySecret: secret(),
    bookSecret: secret(),
    operatorToken: secret(),
  };
}

function saveAuthority(
  seeds: AuthoritySeeds,
  keysFile: string,
): Pick<ExchangeKeys, 'rootKey' | 'openingKey' | 'authorityFile'> {
  const authorityFile = authorityFileOf(keysFile);
  replaceFile(authorityFile, `${JSON.stringify(seeds, null, 2)}\n`);
  const { rootSeed, openingSeed } = seeds;
  return { rootKey: publicKeyOf(rootSeed), openingKey: publicKeyOf(openingSeed), authorityFile };
}

function authorityFileOf(keysFile: string): string {
  return join(dirname(keysFile), authorityName);
}

/** Replaces the file at once, readable by its owner only; returns the keys. */
export function saveKeys(keys: ExchangeKeys, file: string): ExchangeKeys {
  const { authorityFile: _, ...stored } = keys;
  replaceFile(file, `${JSON.stringify(stored, null, 2)}\n`);
  return keys;
}

type StoredKeys = Partial<Omit<ExchangeKeys, 'authorityFile'> & AuthoritySeeds>;

function checked(found: StoredKeys, file: string): ExchangeKeys {
  refuseMalformed(found, [...fields, ...authorityFields], file);
  const missing = firstFields.find((field) => !(field in found));
  if (missing !== undefined)
    throw new StackError(
      'BAD_DESCRIPTION',
      `${file} is damaged: it lacks ${missing}. ${asInBackup}`,
    );
  const { acceptedKeySecrets } = found;
  if (acceptedKeySecrets !== undefined && !hex32List.test(acceptedKeySecrets)) {
    const form = 'is not 64 hex digits, or several of them between commas';
    throw new StackError('BAD_DESCRIPTION', `acceptedKeySecrets in ${file} ${form}`);
  }
  if (!areRotations(found))
    throw new StackError('BAD_DESCRIPTION', `nextSeeds or formerKeys in ${file} is malformed`);
  if ('rootKey' in found && ('rootSeed' in found || 'openingSeed' in found))
    throw new StackError(
      'BAD_DESCRIPTION',
      `${file} has a seed of ${authorityName}: move it there`,
    );
  if (fields.every((field) => field in found))
    return { ...(found as ExchangeKeys), authorityFile: authorityFileOf(file) };
  return saveKeys(withAuthorities(found, file), file);
}

function refuseMalformed(found: object, names: readonly string[], file: string): void {
  const values = new Map(Object.entries(found));
  const bad = names.find((name) => values.has(name) && !hex32.test(String(values.get(name))));
  if (bad !== undefined)
    throw new StackError('BAD_DESCRIPTION', `${bad} in ${file} is not 64 hex digits`);
}

/**
 * The keys of a file of an earlier version, which has the seeds of the authorities. In older files the key of the
 * operator is also the opening key: it stays the opening key, and the operator gets another one, as in a rotation.
 */
function withAuthorities(found: StoredKeys, file: string): ExchangeKeys {
  const { rootSeed = secret(), openingSeed, rootKey, openingKey, ...others } = found;
  if (rootKey !== undefined && openingKey !== undefined) {
    const authorityFile = authorityFileOf(file);
    return { ...madeSecrets(), ...others, rootKey, openingKey, authorityFile };
  }
  const seeds = { rootSeed, openingSeed: openingSeed ?? others.operatorSeed ?? secret() };
  const keys = { ...madeSecrets(), ...others, ...saveAuthority(seeds, file) };
  if (openingSeed !== undefined || others.operatorSeed === undefined) return keys;
  const former: FormerKey = { role: 'OPERATOR', publicKey: publicKeyOf(others.operatorSeed) };
  return {
    ...keys,
    operatorSeed: secret(),
    formerKeys: [...(others.formerKeys ?? []), former],
  };
}

function areRotations({ nextSeeds = {}, formerKeys = [] }: StoredKeys): boolean {
  return (
    Object.entries(nextSeeds).every(([role, seed]) => role in rotatedSeeds && hex32.test(seed)) &&
    Array.isArray(formerKeys) &&
    formerKeys.every(({ role, publicKey }) => role in rotatedSeeds && hex32.test(publicKey))
  );
}
