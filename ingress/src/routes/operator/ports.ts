import type { Clock } from '@pm/kit/clock';
import type { CatalogEntry, CatalogMarket, Transfer } from '@pm/schemas';
import type { CatalogIndex } from '../../core/catalog-index.ts';
import type { Keccak } from '../../core/order-hash.ts';
import type { CommandLog } from '../ports.ts';

/** Writes of the operator; each resolves when it is durable and rejects with a `Fault`. */
export interface OperatorWrites {
  writeRoutes(markets: readonly CatalogMarket[]): Promise<void>;
  writeEntries(entries: readonly CatalogEntry[]): Promise<void>;
  writeTransfers(transfers: readonly Transfer[]): Promise<void>;
}

/** Everything the operator's routes need. */
export interface OperatorPorts {
  readonly clock: Clock;
  readonly keccak: Keccak;
  /** The token that opens these routes. */
  readonly token: string;
  readonly catalog: CatalogIndex;
  readonly partitions: number;
  /** Commands signed with the operator's key. */
  readonly log: CommandLog;
  readonly writes: OperatorWrites;
  status(): object;
}
