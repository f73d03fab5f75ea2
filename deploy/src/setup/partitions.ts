import type { LogAdmin, LogProducer } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import { openSignOffKey, sealEnvelope } from '@pm/kit/signoff';
import { type Envelope, hexBytes, parseWalletAddress } from '@pm/schemas';
import { type ExchangeKeys, publicKeyOf } from './keys.ts';

/** The wallet that fees are paid to: nobody's, so that the demo's conservation is easy to see. */
export const feeWallet = '0x00000000000000000000000000000000000000fe';

/** An order older than this when it reaches the book is refused (docs/architecture.md). */
const bookAgeLimitMs = 2_000;

/** An order signed longer ago is stale, and ids are remembered for as long. */
const orderAgeLimitMs = 3_600_000;

export interface PartitionOpening {
  readonly admin: LogAdmin;
  readonly producer: LogProducer;
  readonly codec: RecordCodec<Envelope>;
  readonly ordersTopic: string;
  readonly keys: ExchangeKeys;
  readonly nowMs: number;
}

/**
 * Writes the first record of every partition that has none: its opening and the keys that may sign, signed by the
 * operator. Partitions that have records are left alone, so this can be run again.
 */
export async function openPartitions(opening: PartitionOpening): Promise<number> {
  const bounds = await opening.admin.bounds(opening.ordersTopic);
  const empty = [...bounds].filter(([, bound]) => bound.high === 0).map(([partition]) => partition);
  if (empty.length === 0) return 0;
  await opening.producer.send(
    empty.map((partition) => ({
      topic: opening.ordersTopic,
      partition,
      key: null,
      value: openingRecord(opening, partition),
    })),
  );
  return empty.length;
}

function openingRecord(opening: PartitionOpening, partition: number): Buffer {
  const { keys } = opening;
  const wallet = parseWalletAddress(feeWallet);
  if (wallet === null) throw new RangeError('the fee wallet is an address');
  const publicKey = (seed: string) => Buffer.from(publicKeyOf(seed), 'hex');
  return sealEnvelope(opening.codec, openSignOffKey(Buffer.from(keys.operatorSeed, 'hex')), {
    partition,
    sequence: 0,
    commands: [
      {
        kind: 'OpenPartition',
        partition,
        operatorKey: publicKey(keys.operatorSeed),
        feeWallet: hexBytes(wallet),
        bookAgeLimitMs,
        orderAgeLimitMs,
        timeMs: opening.nowMs,
      },
      { kind: 'SetKey', publicKey: publicKey(keys.ingressSeed), role: 'INGRESS', active: true },
      { kind: 'SetKey', publicKey: publicKey(keys.ownerSeed), role: 'OWNER', active: true },
    ],
  });
}
