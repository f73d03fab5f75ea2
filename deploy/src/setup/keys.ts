import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { KeyRole } from '@pm/schemas';
import nacl from 'tweetnacl';
import { replaceFile } from '../local/replace-file.ts';
import { StackError, systemCodeOf } from '../local/stack-error.ts';

/**
 * The secrets of one installation, as hex text; generated once and stored in its data folder, readable by its owner
 * only.
 */
export interface ExchangeKeys {
  /** Ed25519 seed of the root key: lists the keys of services on `service-keys`. No service gets it. */
  readonly rootSeed: string;
  /** Ed25519 seed of the opening key: opens partitions, lists keys in them. No service gets it. */
  readonly openingSeed: string;
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

const fields = [
  'rootSeed',
  'openingSeed',
  'operatorSeed',
  'ownerSeed',
  'ingressSeed',
  'ledgerSeed',
  'keySecret',
  'bookSecret',
  'operatorToken',
] as const;
const hex32 = /^[0-9a-f]{64}$/;
const hex32List = /^[0-9a-f]{64}(,[0-9a-f]{64})*$/;

/**
 * The keys in `file`, generated when there is none; missing keys of later versions are added, and the key of the
 * operator is taken out of the one that opened the partitions. Throws a `StackError` for a malformed file.
 */
export function loadOrMakeKeys(file: string): ExchangeKeys {
  return readKeys(file) ?? saveKeys(makeKeys(), file);
}

/** The same; null when there is no file. */
export function readKeys(file: string): ExchangeKeys | null {
  try {
    return checked(JSON.parse(readFileSync(file, 'utf8')), file);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
    return null;
  }
}

/** The public half of a seed, hex. */
export function publicKeyOf(seed: string): string {
  return Buffer.from(nacl.sign.keyPair.fromSeed(Buffer.from(seed, 'hex')).publicKey).toString(
    'hex',
  );
}

function makeKeys(): ExchangeKeys {
  const secret = () => randomBytes(32).toString('hex');
  return {
    rootSeed: secret(),
    openingSeed: secret(),
    operatorSeed: secret(),
    ownerSeed: secret(),
    ingressSeed: secret(),
    ledgerSeed: secret(),
    keySecret: secret(),
    bookSecret: secret(),
    operatorToken: secret(),
  };
}

/** Replaces the file at once, readable by its owner only; returns the keys. */
export function saveKeys(keys: ExchangeKeys, file: string): ExchangeKeys {
  replaceFile(file, `${JSON.stringify(keys, null, 2)}\n`);
  return keys;
}

function checked(value: unknown, file: string): ExchangeKeys {
  const keys = value as Partial<Record<(typeof fields)[number], unknown>>;
  const bad = fields.find((field) => field in keys && !hex32.test(String(keys[field])));
  if (bad !== undefined)
    throw new StackError('BAD_DESCRIPTION', `${bad} in ${file} is not 64 hex digits`);
  const found = value as Partial<ExchangeKeys>;
  const { acceptedKeySecrets } = found;
  if (acceptedKeySecrets !== undefined && !hex32List.test(acceptedKeySecrets)) {
    const form = 'is not 64 hex digits, or several of them between commas';
    throw new StackError('BAD_DESCRIPTION', `acceptedKeySecrets in ${file} ${form}`);
  }
  if (!areRotations(found))
    throw new StackError('BAD_DESCRIPTION', `nextSeeds or formerKeys in ${file} is malformed`);
  if (fields.every((field) => field in keys)) return found as ExchangeKeys;
  return saveKeys(withOpeningKey(found), file);
}

/**
 * In files of earlier versions the key of the operator is also the opening key: it stays that, and the operator gets
 * another one, as in a rotation.
 */
function withOpeningKey(found: Partial<ExchangeKeys>): ExchangeKeys {
  const made = makeKeys();
  const { openingSeed, operatorSeed } = found;
  if (openingSeed !== undefined || operatorSeed === undefined) return { ...made, ...found };
  const former: FormerKey = { role: 'OPERATOR', publicKey: publicKeyOf(operatorSeed) };
  return {
    ...made,
    ...found,
    openingSeed: operatorSeed,
    operatorSeed: made.operatorSeed,
    formerKeys: [...(found.formerKeys ?? []), former],
  };
}

function areRotations({ nextSeeds = {}, formerKeys = [] }: Partial<ExchangeKeys>): boolean {
  return (
    Object.entries(nextSeeds).every(([role, seed]) => role in rotatedSeeds && hex32.test(seed)) &&
    Array.isArray(formerKeys) &&
    formerKeys.every(({ role, publicKey }) => role in rotatedSeeds && hex32.test(publicKey))
  );
}
