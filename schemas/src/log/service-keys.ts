import type { Infer } from '../avro/schema.ts';
import { keyRole, publicKey32 } from './types.ts';

/** Who may sign records: a role of the keys of services, or the root key, which lists these keys. */
export type SealRole = (typeof keyRole)['symbols'][number] | 'ROOT';

const partitionEnd = {
  type: 'record',
  name: 'PartitionEnd',
  doc: 'A place in a topic.',
  fields: [
    { name: 'topic', type: 'string', doc: 'Name on the broker, with its prefix.' },
    { name: 'partition', type: 'int', doc: 'Its partition.' },
    { name: 'end', type: 'long', doc: 'The offset after its last record.' },
  ],
} as const;

const serviceKeyListed = {
  type: 'record',
  name: 'ServiceKeyListed',
  doc: 'Records that this key seals count from here on.',
  fields: [
    { name: 'publicKey', type: publicKey32, doc: 'Raw Ed25519 public key.' },
    { name: 'role', type: keyRole, doc: 'It may seal the topics that name this role.' },
  ],
} as const;

const serviceKeyRetired = {
  type: 'record',
  name: 'ServiceKeyRetired',
  doc: 'Records that this key seals at or after these ends count no more; it is never listed again.',
  fields: [
    { name: 'publicKey', type: publicKey32, doc: 'Raw Ed25519 public key.' },
    {
      name: 'ends',
      type: { type: 'array', items: partitionEnd },
      doc: 'Of all partitions of all sealed topics.',
    },
  ],
} as const;

const unsealedAdopted = {
  type: 'record',
  name: 'UnsealedAdopted',
  doc: 'Records without a seal before these ends count: an earlier version wrote them.',
  fields: [
    {
      name: 'ends',
      type: { type: 'array', items: partitionEnd },
      doc: 'Of all partitions with records.',
    },
  ],
} as const;

const depositsReserved = {
  type: 'record',
  name: 'DepositsReserved',
  doc: 'At and after these ends, money comes in under the seal of an OPERATOR key alone; an earlier version had others seal it.',
  fields: [
    {
      name: 'ends',
      type: { type: 'array', items: partitionEnd },
      doc: 'Of the topic of transfers.',
    },
  ],
} as const;

const partitionOpened = {
  type: 'record',
  name: 'PartitionOpened',
  doc: 'The first record of a partition of orders, kept here for readers when retention has removed it there.',
  fields: [
    { name: 'partition', type: 'int', doc: 'The partition that it opens.' },
    { name: 'envelope', type: 'bytes', doc: 'All bytes of its value.' },
  ],
} as const;

const schemaListed = {
  type: 'record',
  name: 'SchemaListed',
  doc: 'Values with this id in their header are written with this schema. The first schema of an id counts.',
  fields: [
    { name: 'topic', type: 'string', doc: 'The topic, without prefix.' },
    { name: 'schemaId', type: 'int', doc: 'The id under which the registry has it.' },
    { name: 'schema', type: 'string', doc: 'Avro, as JSON.' },
  ],
} as const;

/**
 * The topic `service-keys`: the keys of services whose seals count, and from which place on they do not; and the
 * schemas of all topics by their ids. The first record under an id of this topic lists its own schema. Key: the kind of
 * the entry. Every record is sealed by the root key (`PM_ROOT_KEY`). Not compacted: the order of its records counts.
 */
export const serviceKeyEntry = {
  type: 'oneOf',
  name: 'ServiceKeyEntry',
  doc: 'Exactly one of its fields is set.',
  branches: [
    serviceKeyListed,
    serviceKeyRetired,
    unsealedAdopted,
    depositsReserved,
    partitionOpened,
    schemaListed,
  ],
} as const;

export type ServiceKeyEntry = Infer<typeof serviceKeyEntry>;
export type ListedSchema = Infer<typeof schemaListed>;
export type PartitionEnd = Infer<typeof partitionEnd>;
