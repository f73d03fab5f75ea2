import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ExchangeClient } from '@pm/client';
import { findInstallation } from '@pm/deploy/installation/addresses';
import { logPlaceOf } from '@pm/deploy/installation/open';
import {
  type ExchangeKeys,
  loadOrMakeKeys,
  publicKeyOf,
  type RotatedRole,
  readAuthority,
  saveKeys,
} from '@pm/deploy/setup/keys';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { type LogClient, openLogClient, readRange } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import type { Schemas } from '@pm/kit/registry';
import { idOf } from '@pm/operate/keys/key-lists';
import { InstallationKeys } from '@pm/operate/keys/key-log';
import { type RetiredKeys, retireKeys, rotateKey } from '@pm/operate/keys/rotation';
import type { DeadLetter } from '@pm/schemas/log/accounts';
import type { Command } from '@pm/schemas/log/orders';
import { type Topic, topics } from '@pm/schemas/log/topics';
import { engineUrl } from '../../../kit/test/engines.ts';
import {
  cancelAll,
  ExchangeUnderTest,
  type IngressProcess,
  order,
  place,
  type Trader,
  until,
} from '../exchange-under-test.ts';
import { variablesOf } from '../services-under-test.ts';

export const partitions = 2;

export const idOfSeed = (seed: string): string => idOf(Buffer.from(publicKeyOf(seed), 'hex'));

/** An exchange whose keys are rotated, with what `npm run keys` has. */
export class RotationUnderTest {
  readonly exchange: ExchangeUnderTest;
  readonly client: LogClient;
  readonly log: InstallationKeys;

  private constructor(exchange: ExchangeUnderTest, client: LogClient, log: InstallationKeys) {
    this.exchange = exchange;
    this.client = client;
    this.log = log;
  }

  static async open(label: string): Promise<RotationUnderTest> {
    const exchange = await ExchangeUnderTest.openLone(label, partitions);
    const brokers = [engineUrl('KAFKA')];
    const client = openLogClient({ brokers, clientId: label, log: silentLog });
    const addresses = await findInstallation(variablesOf(exchange.name), '');
    const authority = readAuthority(exchange.keys, label);
    const log = await InstallationKeys.open(logPlaceOf(client, addresses), authority);
    return new RotationUnderTest(exchange, client, log);
  }

  async close(): Promise<void> {
    await this.log.close();
    await this.client.close();
    await this.exchange.close();
  }

  keys(): ExchangeKeys {
    return loadOrMakeKeys(this.#path);
  }

  rotate(role: RotatedRole): Promise<string> {
    return rotateKey(this.#places, role);
  }

  retire(which: RetiredKeys): Promise<readonly string[]> {
    return retireKeys(this.#places, which);
  }

  get #path(): string {
    return join(this.exchange.folder, 'keys.json');
  }

  get #places() {
    const file = {
      load: () => this.keys(),
      save: (keys: ExchangeKeys) => void saveKeys(keys, this.#path),
    };
    return { log: this.log, file, onStep: () => {} };
  }

  /** The schemas that its log lists. */
  get schemas(): Schemas {
    const { name, keys } = this.exchange;
    return logPlaceOf(this.client, { topicPrefix: `${name}-`, rootKey: keys.rootKey }).schemas;
  }

  nameOf(topic: Topic): string {
    return `${this.exchange.name}-${topic.name}`;
  }

  /** Appends an envelope to each partition that only its key may make wrong. */
  async sendSignedBy(seed: string, commands: readonly Command[]): Promise<void> {
    const codec = await this.schemas.codecFor(topics.orders);
    const key = openSignOffKey(Buffer.from(seed, 'hex'));
    const producer = await this.client.producer();
    for (let partition = 0; partition < partitions; partition += 1) {
      const sequence = Date.now() * 1_000;
      const value = sealEnvelope(codec, key, { partition, sequence, commands });
      await producer.send([{ topic: this.nameOf(topics.orders), partition, key: null, value }]);
    }
    await producer.close();
  }

  /** How many records were rejected for this reason so far. */
  async rejected(reason: DeadLetter['reason']): Promise<number> {
    const codec = await this.schemas.codecFor(topics.deadLetters);
    const topic = this.nameOf(topics.deadLetters);
    const admin = await this.client.admin();
    const bounds = await admin.bounds(topic).finally(() => admin.close());
    let count = 0;
    for (const [partition, { low, high }] of bounds)
      await readRange(this.client, {
        topic,
        partition,
        from: low,
        to: high,
        onBatch: async ({ records }) => {
          for (const { value } of records)
            if (value !== null && codec.decode(value).reason === reason) count += 1;
        },
      });
    return count;
  }

  /** Resolves when so many more than `before` were rejected for this reason, one in each partition. */
  async awaitRejected(reason: DeadLetter['reason'], before: number): Promise<void> {
    await until(async () => (await this.rejected(reason)) >= before + partitions);
    expect(await this.rejected(reason)).toBe(before + partitions);
  }
}

export async function stop(process: ChildProcess): Promise<void> {
  process.kill('SIGTERM');
  if (process.exitCode === null && process.signalCode === null) await once(process, 'exit');
}

/** A way to place an order and to cancel all: null, or what was refused. */
export interface Sender {
  place(ingress: IngressProcess, trader: Trader, token: string): Promise<unknown>;
  cancel(ingress: IngressProcess, trader: Trader): Promise<unknown>;
}

/** Sends each request once. */
const unrepeated: Sender = {
  place: async (ingress, trader, token) => {
    const { status, body } = await place(ingress, trader, [order(trader, token)]);
    const isBooked = status === 200 && body[0]?.success === true && body[0].status === 'live';
    return isBooked ? null : { status, body };
  },
  cancel: async (ingress, trader) =>
    (await cancelAll(ingress, trader)).length === partitions ? null : 'a cancel',
};

/** How long `patient` sends new orders for one that reached the book too late, milliseconds: the budget of clients. */
const patienceMs = 30_000;

/**
 * Repeats within its retry budget what cannot be answered now, as clients do. An order that had to wait for another
 * owner of its partition longer than its time to book is sent as a new one.
 */
export const patient: Sender = {
  place: async (ingress, trader, token) => {
    const deadlineMs = performance.now() + patienceMs;
    for (;;) {
      const placed = await clientOf(ingress, trader).postOrder(order(trader, token));
      if (placed.success) return null;
      if (placed.code !== 'too_late' || performance.now() > deadlineMs) return placed;
    }
  },
  cancel: async (ingress, trader) => {
    await clientOf(ingress, trader).cancelAll();
    return null;
  },
};

function clientOf({ port }: IngressProcess, { signer, trio, domain }: Trader): ExchangeClient {
  const client = new ExchangeClient({ baseUrl: `http://127.0.0.1:${port}`, signer, domain });
  client.useKey({ ...trio, address: signer.checksummed });
  return client;
}

const flows = new Set<FlowingOrders>();

/** Orders of a flow that says something. */
const enoughOrders = 20;

/** Pause of a flow between its orders, milliseconds: it has to go on all the time, not to fill the cores. */
const flowPauseMs = 100;

/** Ends the flows that a failed test has left. */
export async function stopFlows(): Promise<void> {
  for (const flow of flows) await flow.stop();
}

/** Orders, in each market, one after the other, through the ingress that is named last, and their cancels. */
export class FlowingOrders {
  readonly refused: unknown[] = [];
  placed = 0;
  #ingress: IngressProcess;
  #isOver = false;
  readonly #done: Promise<void>;

  constructor(
    ingress: IngressProcess,
    trader: Trader,
    {
      tokens,
      sender = unrepeated,
    }: { readonly tokens: readonly string[]; readonly sender?: Sender },
  ) {
    this.#ingress = ingress;
    this.#done = this.#run(trader, tokens, sender);
    flows.add(this);
  }

  /** Resolves when orders have come through it. */
  async use(ingress: IngressProcess): Promise<void> {
    this.#ingress = ingress;
    await this.more();
  }

  /** Resolves when some more orders are answered. */
  async more(): Promise<void> {
    const enough = this.placed + 3 * partitions;
    await until(async () => this.placed >= enough || this.refused.length > 0);
    expect(this.refused).toEqual([]);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
    flows.delete(this);
  }

  /** Ends the flow once enough orders went through it: nothing was refused. */
  async end(): Promise<void> {
    await until(async () => this.placed > enoughOrders || this.refused.length > 0);
    await this.stop();
    expect(this.refused).toEqual([]);
  }

  async #run(trader: Trader, tokens: readonly string[], sender: Sender): Promise<void> {
    const note = (refusal: unknown) => {
      if (refusal !== null) this.refused.push(refusal);
    };
    while (!this.#isOver) {
      const ingress = this.#ingress;
      for (const token of tokens) {
        const refusal = await sender.place(ingress, trader, token).catch((error) => error);
        if (refusal === null) this.placed += 1;
        note(refusal);
      }
      note(await sender.cancel(ingress, trader).catch((error) => error));
      await wait(flowPauseMs);
    }
  }
}
