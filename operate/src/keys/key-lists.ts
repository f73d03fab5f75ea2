import { keyIdOf } from '@pm/domain/signoff/keys';
import { maySign, UsedSequences } from '@pm/matcher/core';
import { newestRules, rules } from '@pm/schemas/log/log-rules';
import type { Command, Envelope } from '@pm/schemas/log/orders';
import type { ServiceKeyEntry } from '@pm/schemas/log/service-keys';
import type { KeyRole } from '@pm/schemas/log/types';

/** A key as one list has it. */
export interface ListedKey {
  readonly publicKey: Buffer;
  readonly role: KeyRole;
  /** False when it is retired. */
  readonly active: boolean;
  /** Time of its first record in this list, Unix milliseconds; of its writer, for display only. */
  readonly sinceMs: number;
  /** Offset of the record that says whether it is active. */
  readonly offset: number;
}

/** Keys by id, hex. */
export type KeysById = ReadonlyMap<string, ListedKey>;

/** All that the log says of keys. */
export interface KeyLists {
  /** By partition of `orders`. */
  readonly partitions: ReadonlyMap<number, KeysById>;
  /** Keys listed in the topic `service-keys`. */
  readonly services: KeysById;
}

/**
 * Without the added partitions that are not opened: they take no keys. One that is opened (`opened`, of `service-keys`)
 * stays without keys, when retention has removed the records that list them: no change may leave it out.
 */
export function withoutUnopened(
  partitions: ReadonlyMap<number, KeysById>,
  opened: readonly number[],
): ReadonlyMap<number, KeysById> {
  if (opened.length === 0) return partitions;
  return new Map(
    [...partitions].filter(([partition, keys]) => keys.size > 0 || opened.includes(partition)),
  );
}

/** The id of a raw public key, hex. */
export function idOf(publicKey: Buffer): string {
  return keyIdOf(publicKey).toString('hex');
}

/** An envelope of the opening key, and where it is. */
export interface OpenerRecord {
  readonly envelope: Envelope;
  readonly offset: number;
  readonly timestampMs: number;
  /** Whether its signature holds under these rules of the log. */
  isSigned(version: number): boolean;
}

/** The keys of one partition, folded from the envelopes of the key that opened it, as its matcher does. */
export class PartitionKeys {
  readonly #partition: number;
  readonly #openingKey: Buffer;
  readonly #byId = new Map<string, ListedKey>();
  #isOpen = false;
  #rules = 0;
  readonly #used = new UsedSequences();

  /** `openingKey`: raw public key that alone may open the partition. */
  constructor(partition: number, openingKey: Buffer) {
    this.#partition = partition;
    this.#openingKey = openingKey;
  }

  get byId(): KeysById {
    return this.#byId;
  }

  /** The next envelope that names the opening key; one that the matcher refuses changes nothing. */
  take(record: OpenerRecord): void {
    const { partition, sequence, commands } = record.envelope;
    if (partition !== this.#partition || !record.isSigned(this.#rules)) return;
    if (!this.#isOpen && !this.#isOpening(commands[0])) return;
    if (!maySign('OPENING', record.envelope, this.#rules)) return;
    const before = { isOpen: this.#isOpen, rules: this.#rules };
    if (before.rules >= rules.usedSequences && this.#used.has(sequence)) return;
    for (const command of commands) this.#apply(command, record);
    if (this.#rules < rules.usedSequences) return;
    if (before.isOpen && before.rules < rules.usedSequences) this.#used.addAllTo(sequence);
    else this.#used.add(sequence);
  }

  #isOpening(command: Command | undefined): boolean {
    return command?.kind === 'OpenPartition' && command.operatorKey.equals(this.#openingKey);
  }

  #apply(command: Command, record: OpenerRecord): void {
    if (command.kind === 'OpenPartition') {
      if (this.#isOpen) return;
      this.#isOpen = true;
      set(this.#byId, { publicKey: command.operatorKey, role: 'OPERATOR', active: true }, record);
    } else if (command.kind === 'SetRules') {
      if (command.version <= newestRules) this.#rules = Math.max(this.#rules, command.version);
    } else if (command.kind === 'SetKey') {
      const isOpening = command.publicKey.equals(this.#openingKey);
      const isTooEarly = command.role === 'OPERATOR' && this.#rules < rules.operatorKeys;
      if (!isOpening && !isTooEarly) set(this.#byId, command, record);
    }
  }
}

/** The keys of `service-keys`, folded from its records under the root key: a retired one is never listed again. */
export class ServiceKeyList {
  readonly #byId = new Map<string, ListedKey>();

  get byId(): KeysById {
    return this.#byId;
  }

  take(
    entry: ServiceKeyEntry,
    at: { readonly offset: number; readonly timestampMs: number },
  ): void {
    if (!('publicKey' in entry)) return;
    const { publicKey } = entry;
    const known = this.#byId.get(idOf(publicKey));
    if (entry.kind === 'ServiceKeyListed') {
      if (known === undefined) set(this.#byId, { publicKey, role: entry.role, active: true }, at);
    } else if (known?.active === true) set(this.#byId, { ...known, active: false }, at);
  }
}

function set(
  keys: Map<string, ListedKey>,
  { publicKey, role, active }: Pick<ListedKey, 'publicKey' | 'role' | 'active'>,
  { offset, timestampMs }: { readonly offset: number; readonly timestampMs: number },
): void {
  const id = idOf(publicKey);
  const sinceMs = keys.get(id)?.sinceMs ?? timestampMs;
  // A copy: the key may be a view of everything that was fetched with it.
  keys.set(id, { publicKey: Buffer.from(publicKey), role, active, sinceMs, offset });
}
