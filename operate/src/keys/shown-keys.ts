import { type ExchangeKeys, publicKeyOf, rotatedSeeds } from '@pm/deploy/setup/keys';
import type { KeyRole } from '@pm/schemas/log/types';
import { idOf, type KeyLists, type ListedKey } from './key-lists.ts';

/** The part of a key in `keys.json`. */
export type KeyUse = 'in use' | 'next' | 'former';

/** A key of `keys.json`. */
export interface OwnKey {
  readonly id: string;
  readonly role: KeyRole | 'OPENING';
  readonly use: KeyUse;
}

/**
 * The keys that a file of keys names, but for the root key, which is on no list. The opening key comes first: after an
 * earlier version it is a former key of the operator as well.
 */
export function ownKeys(keys: ExchangeKeys): readonly OwnKey[] {
  const { nextSeeds = {}, formerKeys = [] } = keys;
  return [
    own('OPENING', keys.openingKey, 'in use'),
    ...Object.entries(rotatedSeeds).map(([role, field]) =>
      own(role, publicKeyOf(keys[field]), 'in use'),
    ),
    ...Object.entries(nextSeeds).map(([role, seed]) => own(role, publicKeyOf(seed), 'next')),
    ...formerKeys.map(({ role, publicKey }) => own(role, publicKey, 'former')),
  ];
}

function own(role: string, publicKey: string, use: KeyUse): OwnKey {
  return { id: idOf(Buffer.from(publicKey, 'hex')), role: role as OwnKey['role'], use };
}

/** A line for each key that a list or the file has: role, id, use, and what each list says; by role and age. */
export function shownKeys(lists: KeyLists, owns: readonly OwnKey[]): readonly string[] {
  const ids = new Set([...listedIds(lists), ...owns.map(({ id }) => id)]);
  const rows = [...ids].map((id) => rowOf(id, lists, owns));
  rows.sort((a, b) => a.role.localeCompare(b.role) || a.sinceMs - b.sinceMs);
  return rows.map(({ text }) => text);
}

function listedIds({ partitions, services }: KeyLists): readonly string[] {
  return [services, ...partitions.values()].flatMap((keys) => [...keys.keys()]);
}

function rowOf(id: string, { partitions, services }: KeyLists, owns: readonly OwnKey[]) {
  const inOrders = [...partitions.values()].flatMap((keys) => keys.get(id) ?? []);
  const service = services.get(id);
  const owned = owns.find((one) => one.id === id);
  const isOpening = owned?.role === 'OPENING';
  const role = isOpening ? owned.role : ((inOrders[0] ?? service ?? owned)?.role ?? '');
  const sinceMs = Math.min(...[...inOrders, ...listOf(service)].map((key) => key.sinceMs));
  const since = Number.isFinite(sinceMs) ? new Date(sinceMs).toISOString() : 'never listed';
  const parts = [
    role.toLowerCase().padEnd(8),
    id,
    (owned?.use ?? '').padEnd(6),
    since,
    `orders: ${inPartitions(inOrders, partitions.size)}`,
    `service-keys: ${isOpening && service === undefined ? 'never' : stateOf(service)}`,
    ...(isOpening ? openingMarkOf(service) : markOf(inOrders, service)),
  ];
  return { role, sinceMs, text: parts.join('  ') };
}

function inPartitions(keys: readonly ListedKey[], partitions: number): string {
  const active = keys.filter((key) => key.active).length;
  const retired = keys.length - active;
  const counts = [
    ...(active > 0 ? [`listed in ${active} of ${partitions}`] : []),
    ...(retired > 0 ? [`retired in ${retired} of ${partitions}`] : []),
  ];
  return counts.length === 0 ? 'missing' : counts.join(', ');
}

function stateOf(key: ListedKey | undefined): string {
  if (key === undefined) return 'missing';
  return key.active ? 'listed' : 'retired';
}

/** Which of the lists is the only one that has the key, or that has it active. */
function markOf(inOrders: readonly ListedKey[], service: ListedKey | undefined): readonly string[] {
  const isActive = inOrders.some((key) => key.active);
  if (service === undefined) return inOrders.length === 0 ? [] : ['ONLY IN orders'];
  if (inOrders.length === 0) return ['ONLY IN service-keys'];
  if (isActive === service.active) return [];
  return [isActive ? 'ACTIVE ONLY IN orders' : 'ACTIVE ONLY IN service-keys'];
}

/** Earlier versions sealed with the opening key. */
function openingMarkOf(service: ListedKey | undefined): readonly string[] {
  return service?.active === true ? ['SEALS ON service-keys'] : [];
}

function listOf(key: ListedKey | undefined): readonly ListedKey[] {
  return key === undefined ? [] : [key];
}
