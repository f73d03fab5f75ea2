import { randomBytes } from 'node:crypto';
import { toolCall } from '@pm/deploy/installation/tool-call';
import { StackError } from '@pm/deploy/local/stack-error';
import {
  type ExchangeKeys,
  type FormerKey,
  publicKeyOf,
  type RotatedRole,
  rotatedSeeds,
} from '@pm/deploy/setup/keys';
import type { KeyRole } from '@pm/schemas/log/types';
import { idOf, type KeyLists, type ListedKey } from './key-lists.ts';
import { ownKeys } from './shown-keys.ts';

/** Former keys of one role that may wait for their retirement. */
export const formerKeysMax = 8;

/** A key to be listed, or retired. */
export type KeyChange = Pick<ListedKey, 'publicKey' | 'role' | 'active'>;

/** The lists of keys on the log. */
export interface KeyLog {
  /** As they are now. */
  read(): Promise<KeyLists>;
  /** Resolves when the matcher of the partition has applied the change. */
  setKey(partition: number, change: KeyChange): Promise<void>;
  /** Resolves when the matcher of the partition has applied the record at this offset of `orders`. */
  awaitApplied(partition: number, offset: number): Promise<void>;
  /** Resolves when the change is durable on `service-keys`. */
  publish(change: KeyChange): Promise<void>;
}

/** The file of the keys. */
export interface KeyFile {
  load(): ExchangeKeys;
  save(keys: ExchangeKeys): void;
}

interface Places {
  readonly log: KeyLog;
  readonly file: KeyFile;
  onStep(line: string): void;
}

/** The role of a name as the command takes it. Throws a `StackError` for a key that cannot be replaced. */
export function rotatedRole(name: string): RotatedRole {
  const role = name.toUpperCase();
  if (role in rotatedSeeds) return role as RotatedRole;
  const known = Object.keys(rotatedSeeds).join(', ').toLowerCase();
  throw wrong(`${name} is no role whose key can be rotated: ${known}`);
}

/**
 * Makes the next key of a role, lists it everywhere and makes it the one in use. Its seed is saved before anything is
 * listed: an interrupted rotation continues with the same seed. Returns the id of the key in use, hex. Throws a
 * `StackError` when a matcher does not apply it, or when too many former keys are not retired.
 */
export async function rotateKey({ log, file, onStep }: Places, role: RotatedRole): Promise<string> {
  const lists = await openedLists(log);
  assertListed(lists, file.load(), role);
  const publicKey = nextKey(file, role, onStep);
  await listKey({ log, onStep }, lists, { publicKey, role, active: true });
  file.save(withNextInUse(file.load(), role));
  return idOf(publicKey);
}

/**
 * Lists one more key of a role everywhere, that of another process, beside those in use; a repetition changes nothing.
 * Returns its id, hex. Throws a `StackError` for a key that was retired, or that has another role.
 */
export async function addKey(
  { log, file, onStep }: Places,
  role: RotatedRole,
  publicKey: Buffer,
): Promise<string> {
  const lists = await openedLists(log);
  assertListed(lists, file.load(), role);
  const id = idOf(publicKey);
  const other = [lists.services, ...lists.partitions.values()]
    .map((keys) => keys.get(id)?.role)
    .find((listed) => listed !== undefined && listed !== role);
  if (other !== undefined) throw wrong(`the key ${id} is listed as ${other} already`);
  await listKey({ log, onStep }, lists, { publicKey, role, active: true });
  return id;
}

async function listKey(
  { log, onStep }: Pick<Places, 'log' | 'onStep'>,
  { services, partitions }: KeyLists,
  change: KeyChange,
): Promise<void> {
  const id = idOf(change.publicKey);
  const listed = services.get(id);
  if (listed?.active === false) throw wrong(`the key ${id} was retired: it cannot be listed again`);
  if (listed === undefined) await log.publish(change);
  onStep(`service-keys: ${id} is listed`);
  for (const [partition, keys] of partitions) {
    const known = keys.get(id);
    if (known?.active === true) await log.awaitApplied(partition, known.offset);
    else await log.setKey(partition, change);
    onStep(`partition ${partition}: ${id} is listed`);
  }
}

/** The lists of a log whose partitions the opening key of the file has opened: only its changes count there. */
async function openedLists(log: KeyLog): Promise<KeyLists> {
  const lists = await log.read();
  for (const [partition, keys] of lists.partitions)
    if (keys.size === 0)
      throw wrong(
        `partition ${partition} was not opened by the opening key of this keys.json, or its first records are gone`,
      );
  return lists;
}

/** The key in use is listed everywhere, or set-up of this version has not run yet. */
function assertListed(lists: KeyLists, keys: ExchangeKeys, role: RotatedRole): void {
  const id = idOf(Buffer.from(publicKeyOf(keys[rotatedSeeds[role]]), 'hex'));
  if ([lists.services, ...lists.partitions.values()].every((list) => list.has(id))) return;
  throw wrong(`the ${role} key in use ${id} is not listed everywhere: start the stack once`);
}

/** The public key of the next seed of the role, which is made and saved unless an earlier run did so. */
function nextKey(file: KeyFile, role: RotatedRole, onStep: Places['onStep']): Buffer {
  const keys = file.load();
  const { nextSeeds = {}, formerKeys = [] } = keys;
  const waiting = formerKeys.filter((one) => one.role === role).length;
  if (waiting >= formerKeysMax)
    throw wrong(`${waiting} former keys of the role ${role} are not retired: retire them first`);
  const saved = nextSeeds[role];
  if (saved !== undefined) onStep('an earlier rotation was interrupted: continuing with its seed');
  const seed = saved ?? randomBytes(32).toString('hex');
  if (saved === undefined) file.save({ ...keys, nextSeeds: { ...nextSeeds, [role]: seed } });
  return Buffer.from(publicKeyOf(seed), 'hex');
}

function withNextInUse(keys: ExchangeKeys, role: RotatedRole): ExchangeKeys {
  const { nextSeeds = {}, formerKeys = [] } = keys;
  const { [role]: seed, ...others } = nextSeeds;
  if (seed === undefined) throw wrong('the file of keys was changed during the rotation');
  const field = rotatedSeeds[role];
  const former: FormerKey = { role, publicKey: publicKeyOf(keys[field]) };
  return { ...keys, [field]: seed, nextSeeds: others, formerKeys: [...formerKeys, former] };
}

/** The keys to retire: all former ones of a role, or one by its id, hex. */
export type RetiredKeys = { readonly role: RotatedRole } | { readonly id: string };

/**
 * Retires keys everywhere: records that they sign or seal from then on change nothing. A repetition changes nothing.
 * The opening key, which earlier versions sealed with, too, is retired on `service-keys` alone, with the role OPERATOR.
 * Returns their ids, hex. Throws a `StackError`, before anything is changed, for a key that `keys.json` uses or is
 * about to use, and for one that no list has.
 */
export async function retireKeys(places: Places, which: RetiredKeys): Promise<readonly string[]> {
  const { log, file, onStep } = places;
  const ids = idsOf(which, file.load());
  const lists = await openedLists(log);
  const found = ids.map((id) => [id, keyIn(lists, id)] as const);
  const openingId = idOf(Buffer.from(file.load().openingKey, 'hex'));
  for (const [id, key] of found) {
    const change = { ...key, active: false };
    for (const [partition, keys] of lists.partitions) {
      const known = keys.get(id);
      if (known === undefined || id === openingId) continue;
      if (known.active) await log.setKey(partition, change);
      else await log.awaitApplied(partition, known.offset);
      onStep(`partition ${partition}: ${id} is retired`);
    }
    const listed = lists.services.get(id);
    if (listed?.active === true) await log.publish(change);
    if (listed !== undefined) onStep(`service-keys: ${id} is retired`);
    const keys = file.load();
    const left = (keys.formerKeys ?? []).filter((one) => idOfFormer(one) !== id);
    file.save({ ...keys, formerKeys: left });
  }
  return ids;
}

function idsOf(which: RetiredKeys, keys: ExchangeKeys): readonly string[] {
  if ('role' in which) {
    const former = (keys.formerKeys ?? []).filter(({ role }) => role === which.role);
    if (former.length > 0) return former.map(idOfFormer);
    throw wrong(`no former key of the role ${which.role} is left: rotate it first, or name a key`);
  }
  const own = ownKeys(keys).find(({ id }) => id === which.id);
  if (own === undefined || own.use === 'former') return [which.id];
  if (own.role === 'OPENING') throw wrong(`${own.id} opened the partitions: it stays in them`);
  const what = own.use === 'next' ? 'the next key of a rotation' : 'the key in use';
  throw wrong(`${own.id} is ${what} of the role ${own.role} (keys.json): it cannot be retired`);
}

function idOfFormer({ publicKey }: FormerKey): string {
  return idOf(Buffer.from(publicKey, 'hex'));
}

function keyIn(
  { partitions, services }: KeyLists,
  id: string,
): {
  readonly publicKey: Buffer;
  readonly role: KeyRole;
} {
  for (const keys of [...partitions.values(), services]) {
    const key = keys.get(id);
    if (key !== undefined) return { publicKey: key.publicKey, role: key.role };
  }
  throw wrong(`no list has a key ${id}: ${toolCall('keys', 'list')}`);
}

function wrong(text: string): StackError {
  return new StackError('BAD_DESCRIPTION', text);
}
