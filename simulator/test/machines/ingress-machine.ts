import { ClockWitness } from '@pm/domain/commands/clock-witness.io';
import { type CommandChannel, openCommandChannel } from '@pm/domain/commands/command-channel.io';
import { DelayedResults } from '@pm/domain/commands/delayed-results.io';
import { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import { ReadOffsets } from '@pm/domain/commands/read-offsets.io';
import { RecentResults } from '@pm/domain/commands/recent-results-cache';
import { followResults } from '@pm/domain/commands/results.io';
import type { CommandTopics } from '@pm/domain/commands/topics.io';
import { TransferWriter } from '@pm/domain/commands/transfer-writer.io';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { openOrderCrypto } from '@pm/domain/orders/order-crypto.io';
import type { Reservations } from '@pm/domain/orders/reservation.io';
import type { Fault } from '@pm/kit/fault';
import type { LogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { OrderSubmitter } from '../../../ingress/src/orders/submit.io.ts';
import { UnconfirmedOrders } from '../../../ingress/src/orders/unconfirmed-orders.io.ts';
import type { DefectParts } from '../defect-parts.ts';
import { codecs, keys, partitionCount, topicNames } from '../exchange-facts.ts';
import type { Machine } from '../time/machine.ts';

export const { keccak } = openOrderCrypto();

export interface IngressParts {
  readonly machine: Machine;
  /** Its key is that of its slot. */
  readonly slot: number;
  readonly client: LogClient;
  readonly ledger: Ledger;
  onStop(fault: Fault): void;
  readonly parts: DefectParts;
}

/** Parts of a process of ingress that carry out requests of clients. */
export interface Ingress {
  readonly machine: Machine;
  readonly submitter: OrderSubmitter;
  readonly commands: Pick<CommandChannel['commands'], 'run'>;
  readonly ledger: Reservations;
  readonly transfers: TransferWriter;
  readonly partitions: PartitionLiveness;
}

export const unfunded = { waitSeconds: () => null, refused() {} };

const resultWaitMs = 1_000;
const runsAheadMax = 1_000;

/** An ingress from its command channel on: the checks of HTTP, keys and signatures of orders are left out. */
export async function startIngress(parts: IngressParts): Promise<Ingress> {
  const { machine, slot, client, ledger, onStop, parts: changed } = parts;
  const { clock } = machine;
  const bounds = await (await client.admin()).bounds(topicNames.executions);
  const executionEnds = new Map([...bounds].map(([partition, { high }]) => [partition, high]));
  const partitions = new PartitionLiveness(Array(partitionCount).keys(), clock);
  const channel = openCommandChannel({
    key: keys.ingress[slot] as (typeof keys.ingress)[number],
    codec: codecs.orders,
    producer: changed.commandProducer(await client.producer()),
    topic: topicNames.orders,
    partitions,
    nowMs: () => clock.nowMs(),
    runsAhead: machine.scheduler.random.below(runsAheadMax),
    waitMs: resultWaitMs,
    onForeign() {},
  });
  const commands = changed.commands(channel);
  const recentResults = new RecentResults({ bytesMax: 200_000, seed: 1 });
  const readOffsets = new ReadOffsets(executionEnds);
  const delayedResults = new DelayedResults();
  const topics = { client, names: topicNames, codecs, executionEnds };
  await followResults(topics as unknown as CommandTopics, {
    channel,
    partitions,
    recentResults,
    readOffsets,
    delayedResults,
    witness: new ClockWitness({ clock, envelopes: channel.envelopes }),
    log: silentLog,
    onFault: onStop,
  });
  const unconfirmed = new UnconfirmedOrders({
    partitions,
    recentResults,
    ledger,
    commands,
    log: silentLog,
  });
  unconfirmed.start();
  const submitter = new OrderSubmitter({
    clock,
    recentResults,
    readOffsets,
    delayedResults,
    unconfirmed,
    partitions,
    ledger,
    commands,
    hashes: { keccak },
    metrics: { stage() {} },
    authentication: { freshness: { secondsMs: 300_000, millisecondsMs: 30_000 } },
    unfunded,
  });
  const transfers = new TransferWriter({
    producer: changed.transferProducer(await client.producer()),
    topic: topicNames.transfers,
    codec: codecs.transfers,
  });
  return { machine, submitter, commands, ledger, transfers, partitions };
}
