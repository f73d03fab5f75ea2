import { setTimeout as wait } from 'node:timers/promises';
import { authFrame, type ExchangeClient, type Signer, walletFromPrivateKey } from '@pm/client';
import { sessionPromiseMs } from '@pm/domain/sessions/session-table';
import type { ApiKeyTrio } from '@pm/schemas/http/trading';
import { clockLeapMaxMs } from '@pm/schemas/log/log-rules';
import type { SigningDomain } from '@pm/schemas/signing';
import { runLength } from '../../../kit/test/long-runs.ts';
import { StreamClient } from '../../../streams/test/stream-client.ts';
import { MovableClocks } from '../../src/faults/movable-clocks.ts';
import { LogTruth } from '../streams/log-truth.ts';
import { eventOf, untilNone, WholeExchange } from '../whole-exchange.ts';
import { OrderLoop } from './order-loop.ts';

const partitions = 2;
/** As far as brokers take records from the future, and a little less. */
const offMs = 3_540_000;
/** Longer than the session of a group, than silence before a session is missed, and than a partition may be silent. */
const stoppedMs = 16_000;
/** Services do most of what they do by themselves at least once in this time. */
const offForMs = 1_000;
/** Longer than the clock of a partition may stand still before its orders are refused. */
const leapMs = clockLeapMaxMs + 2_000;
/** Times to book: shorter than the matchers stand still, and as long as any machine needs. */
const orderMs = 300;
const longOrderMs = 1_900;
/** Longest waits for what comes by itself: many times what it takes on a machine of its own, milliseconds. */
const endsMaxMs = 120_000;
const readyMaxMs = 300_000;
const openMaxMs = 900_000;
const testMaxMs = 1_800_000;

/** Services whose clock nobody asks for while traders trade. */
const unasked = ['gateway', 'projectors', 'operator', 'streams'] as const;
const moved = [...unasked, 'query-api', 'ingress', 'matcher'] as const;

const signerOf = (number: number): Signer =>
  walletFromPrivateKey(`0x${String(number).padStart(64, '7')}`);

/** A wallet with a resting order that goes when its connection ends. */
interface Guarded {
  readonly signer: Signer;
  readonly client: ExchangeClient;
  readonly key: ApiKeyTrio;
  stream: StreamClient;
}

/** A standby must not take over from an owner whose clock is wrong; without one there is less to go wrong. */
const exchanges = [
  ['a matcher and its standby', 'clocks_standby', { matcher: 2 }],
  ['one matcher', 'clocks', { matcher: 1 }],
] as const;

describe.each(exchanges.slice(0, runLength({ test: 1, deep: 2 })))(
  '%s',
  (_name, exchangeName, scale) => {
    const clocks = new MovableClocks(moved);
    let exchange: WholeExchange;
    let domain: SigningDomain;
    let loop: OrderLoop;
    const [stays, trader, leaves] = [signerOf(1), signerOf(2), signerOf(3)];
    /** One whose connection stays, and one whose connection ends. */
    let guard: Guarded;
    let leaver: Guarded;

    const tokens = () => exchange.markets.map(({ tokenIds: [first = ''] }) => first);

    /** Ids of the open orders of a wallet. */
    async function openOrders({ client }: Guarded): Promise<readonly string[]> {
      const ids: string[] = [];
      for await (const { id } of client.own.openOrders()) ids.push(id);
      return ids;
    }

    /** Its connection and its order are still there. */
    async function expectResting(of: Guarded = guard): Promise<void> {
      const orders = await openOrders(of);
      expect([of.stream.closed, orders.length]).toEqual([null, 1]);
    }

    beforeAll(async () => {
      exchange = await WholeExchange.open(exchangeName, {
        partitions,
        events: [eventOf('clocks', partitions)],
        scale,
        env: clocks.env(),
      });
      domain = await exchange.client(trader).signingDomain();
      await exchange.deposit([trader, stays, leaves], '1000');
      const key = await exchange.client(trader).connect();
      const parts = { baseUrl: exchange.baseUrls[0], signer: trader, key, domain };
      loop = new OrderLoop({ ...parts, tokens: tokens() });
      guard = await openGuarded(stays);
      leaver = await openGuarded(leaves);
      await loop.goesOn('before anything is set');
    }, openMaxMs);

    afterAll(async () => {
      await loop?.close().catch(() => undefined);
      guard?.stream.socket.terminate();
      leaver?.stream.socket.terminate();
      await exchange?.close();
      clocks.close();
    }, openMaxMs);

    async function openGuarded(signer: Signer): Promise<Guarded> {
      const client = exchange.client(signer);
      const key = await client.connect();
      const stream = await openStream({ signer, key });
      const [tokenId = ''] = tokens();
      const rests = await client.placeOrder({ tokenId, side: 'BUY', price: '0.05', size: '5' });
      expect(rests).toMatchObject({ status: 'live' });
      return { signer, client, key, stream };
    }

    /** A connection that cancels the orders of its wallet when it ends. */
    async function openStream(of: Pick<Guarded, 'signer' | 'key'>): Promise<StreamClient> {
      const url = `${exchange.baseUrls[0].replace('http', 'ws')}/v1/stream`;
      const stream = await StreamClient.open(url);
      const { stream_id: streamId } = await stream.of('welcome');
      const holder = { ...of.key, address: of.signer.checksummed };
      const proof = { streamId: String(streamId), cancelOnDisconnect: true };
      stream.send({ ...authFrame(holder, proof, Date.now()), id: 1 });
      await stream.of('authenticated');
      // A connection without a subscription is closed.
      stream.send({ op: 'subscribe', id: 2, channel: 'markets' });
      return stream;
    }

    describe.each([
      ['back', -offMs],
      ['forth', offMs],
    ])('clocks set %s by an hour', (_direction, offsetMs) => {
      // That it goes on after one is right again is seen while the next one is off.
      test.each(unasked)(
        'trading goes on while that of %s is off',
        async (name) => {
          await clocks.set(name, offsetMs);
          await Promise.all([loop.goesOn(`${name} is off`), wait(offForMs)]);
          await clocks.set(name, 0);
          await expectResting();
        },
        testMaxMs,
      );

      test(
        'query-api refuses private reads as timestamp_skew until its clock is right',
        async () => {
          await clocks.set('query-api', offsetMs);
          loop.forget();
          await loop.meets('timestamp_skew', ['read']);
          await loop.goesOn('orders are taken', ['place', 'cancel']);
          await clocks.set('query-api', 0);
          await loop.goesOn('reads go on');
        },
        testMaxMs,
      );

      test(
        'a matcher stops its partitions at most until its clock is right',
        async () => {
          await clocks.set('matcher', offsetMs);
          loop.forget();
          await Promise.race([
            loop.meets('partition_not_ready', ['place']),
            wait(leapMs).then(() => loop.goesOn('another clock counts', ['place'])),
          ]);
          await clocks.set('matcher', 0);
          await loop.goesOn('the matcher is right again');
          await expectResting();
        },
        testMaxMs,
      );
    });

    /** The clock of ingress is off for longer than a session lasts without a heartbeat. */
    async function setIngress(offsetMs: number, endsMeanwhile: () => Promise<void>): Promise<void> {
      await clocks.set('ingress', offsetMs);
      loop.forget();
      await loop.meets('timestamp_skew', ['place', 'cancel']);
      await loop.goesOn('reads go on', ['read']);
      await wait(stoppedMs);
      await endsMeanwhile();
      await clocks.set('ingress', 0);
      await loop.goesOn('ingress is right again');
      await expectResting();
    }

    test(
      'ingress set back refuses as timestamp_skew, and a session ends only if its heartbeats ended before',
      async () => {
        await expectResting(leaver);
        leaver.stream.socket.terminate();
        const unended = () => openOrders(leaver);
        await setIngress(-offMs, () => untilNone('its order is canceled', unended, endsMaxMs));
      },
      testMaxMs,
    );

    // Later than a matcher set forth: what ingress says of the time stays in the log.
    test(
      'ingress set forth refuses as timestamp_skew until its clock is right, and no session ends',
      async () => {
        await setIngress(offMs, async () => {});
      },
      testMaxMs,
    );

    test(
      'all processes stand still for longer than every session, and go on',
      async () => {
        const names = exchange.processes.map(({ name }) => name);
        for (const name of names) exchange.suspend(name);
        await wait(stoppedMs);
        const resumedMs = performance.now();
        for (const name of names) exchange.resume(name);
        await loop.goesOn('everything runs again');
        // Streams may have ended its connection, which a client opens again.
        if (guard.stream.closed !== null) guard.stream = await openStream(guard);
        const openedWithinMs = performance.now() - resumedMs;
        const notReady = async () => {
          const ready = exchange.processes.filter(({ state }) => state === 'ready');
          return ready.length === names.length ? [] : names;
        };
        await untilNone('all are ready', notReady, readyMaxMs);
        // Nothing is canceled for it, but for a client that was away for longer than its session lasts.
        if (openedWithinMs < sessionPromiseMs) expect(await openOrders(guard)).toHaveLength(1);
      },
      testMaxMs,
    );

    test(
      'an order whose time ends while the matchers stand still is too late, and one in time is booked',
      async () => {
        const { client } = guard;
        const [tokenId = ''] = tokens();
        const intent = { tokenId, side: 'BUY', price: '0.04', size: '5' } as const;
        const names = exchange.processes.map(({ name }) => name);
        const matchers = names.filter((name) => name.startsWith('matcher'));
        for (const name of matchers) exchange.suspend(name);
        const placing = client.placeOrder(intent, { timeToBookMs: orderMs });
        // Longer than the time of the order, on which it does not depend.
        await wait(10 * orderMs);
        for (const name of matchers) exchange.resume(name);
        // A repetition gets the order as it is then.
        const { code, order } = await placing;
        expect([code, order?.reason]).toContain('too_late');
        await loop.goesOn('the matchers run again');
        const notBooked = async () => {
          const placed = await client.placeOrder(intent, { timeToBookMs: longOrderMs });
          if (placed.status === 'live') await client.cancelOrder(placed.orderID);
          return placed.status === 'live' ? [] : [placed.errorMsg];
        };
        await untilNone('an order with time is booked', notBooked, endsMaxMs);
      },
      testMaxMs,
    );

    test(
      'nothing was lost or doubled',
      async () => {
        await loop.close();
        const truth = await LogTruth.read(exchange.log, exchange.markets);
        expect(truth.audit.violations).toEqual([]);
        for (const id of loop.placed) expect(truth.audit.orders.has(id)).toBe(true);
        console.log(`${loop.placed.size} orders placed`);
      },
      testMaxMs,
    );
  },
);
