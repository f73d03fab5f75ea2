import { Fault } from '@pm/kit/fault';
import { openHttp } from '@pm/kit/http';
import type { WalletAddress } from '@pm/schemas/ids';
import { type HttpRoute, urlsOf } from '@pm/schemas/routes/route';
import { headers as names } from '@pm/schemas/signing';
import type { InjectOptions } from 'fastify';
import { Canaries, seenOf } from '../../../kit/test/hostile/canaries.ts';
import { Dice } from '../../../kit/test/hostile/dice.ts';
import { KeptLog } from '../../../kit/test/hostile/kept-log.ts';
import { addPublicRoutes } from '../../src/http/public.route.ts';
import {
  type Caller,
  callerWallets,
  carriesOut,
  hostileRequest,
  injectionOf,
  openCaller,
  signedHeadersOf,
} from '../hostile-fixture.ts';
import { openIngress } from '../ingress-fixture.ts';
import { nameOf, writeRouteOf, writeRoutes } from '../write-routes-fixture.ts';

/**
 * Secrets go through every write route, well-formed and not, while all is well and while every dependency fails;
 * then the test looks for them in everything that ingress has logged or written.
 */
const serverSecret = Buffer.alloc(32, 5);
const retryKey = 'canary-idempotency-key-5f0e';

async function openWatched() {
  const ingress = await openIngress();
  const log = new KeptLog();
  const app = openHttp({ log, bodyLimitBytes: 256 * 1024 });
  const broken = { isBroken: false };
  ingress.fakes.answer = (command) => {
    if (broken.isBroken) throw new Error('the log is gone');
    return carriesOut(command);
  };
  addPublicRoutes(app, ingress.services);
  await app.ready();
  return { ingress, log, app, broken };
}

const failures: readonly ((world: Awaited<ReturnType<typeof openWatched>>) => void)[] = [
  () => {},
  ({ broken }) => Object.assign(broken, { isBroken: true }),
  ({ ingress }) => Object.assign(ingress.fakes, { ready: false }),
  ({ ingress }) => Object.assign(ingress.fakes, { reserve: 'not_ready', written: 'unknown' }),
  ({ ingress }) => Object.assign(ingress.fakes, { signaturesFull: true }),
  ({ ingress }) => Object.assign(ingress.retries, { isAway: true }),
  ({ ingress }) => {
    const { credentials, agents, readKeys, notificationMarks } = ingress.accounts;
    for (const topic of [credentials, agents, readKeys, notificationMarks]) {
      topic.fault = new Fault('kafka_unavailable', 'retry');
    }
  },
];

/** A sound request to the route, and ones that are not. */
function requestsTo(caller: Caller, dice: Dice, secrets: Canaries): readonly InjectOptions[] {
  // A revoked key stays revoked, so the route that revokes the calling one comes last.
  const isLast = ({ method, path }: HttpRoute) => method === 'DELETE' && path === '/auth/api-key';
  const ordered = [...writeRoutes].sort(
    (left, right) => Number(isLast(left)) - Number(isLast(right)),
  );
  return ordered.flatMap((route) => {
    const { sample, body: schema } = writeRouteOf(route);
    const [order = {}] = caller.orders;
    const isOrders = nameOf(route).startsWith('POST /orders');
    const value = isOrders
      ? [order]
      : (sample?.(caller) ?? { name: 'x', self_trade: 'cancel_both' });
    const body = schema === null ? null : Buffer.from(JSON.stringify(value));
    const sound = urlsOf(route).map(({ url }) => {
      const sent = {
        method: route.method,
        url: url.replace(/:\w+/g, caller.agents[0] ?? '1'),
        body,
      };
      const signed = signedHeadersOf(sent, caller);
      secrets.add('an L2 signature', signed[names.signature] ?? '');
      const headers = {
        ...signed,
        'content-type': 'application/json',
        'idempotency-key': retryKey,
      };
      return injectionOf({ ...sent, headers, route, isRouted: true });
    });
    const hostile = Array.from({ length: 3 }, () =>
      injectionOf(hostileRequest(route, caller, dice)),
    );
    const attested = { ...caller.attestation, 'content-type': 'application/json' };
    return [
      ...sound,
      ...hostile,
      { method: route.method, url: route.path, headers: attested } as InjectOptions,
    ];
  });
}

async function secretsOf(
  ingress: Awaited<ReturnType<typeof openIngress>>,
  caller: Caller,
): Promise<Canaries> {
  const wallet = caller.wallet.address as WalletAddress;
  const secrets = new Canaries();
  const builder = await ingress.keys.createBuilder(wallet);
  const agent = await ingress.services.accounts.agents.create(wallet, 'canary');
  if ('max' in builder || 'max' in agent) throw new Error('there is room for more');
  secrets.add("the server's secret", serverSecret.toString('hex'));
  secrets.add('an L2 secret', caller.trio.secret);
  secrets.add('a passphrase', caller.trio.passphrase);
  secrets.add('a builder secret', builder.secret);
  secrets.add('a builder passphrase', builder.passphrase);
  secrets.add('a read-only key', caller.readKey);
  secrets.add('the key of an agent', agent.key);
  secrets.add('an idempotency key', retryKey);
  secrets.add('an L1 signature', caller.attestation[names.signature] ?? '');
  return secrets;
}

test('no secret of a request is logged or written, whatever happens to it', async () => {
  const dice = new Dice(7);
  for (const fail of failures) {
    const world = await openWatched();
    const { ingress, app, log } = world;
    const [wallet] = callerWallets;
    if (wallet === undefined) throw new Error('a caller');
    const caller = await openCaller(ingress, wallet);
    const secrets = await secretsOf(ingress, caller);
    fail(world);
    for (const request of requestsTo(caller, dice, secrets)) {
      await app.inject(request);
    }
    const { accounts, sessionsTopic, topic, fakes, retries } = ingress;
    const topics = [accounts.credentials, accounts.readKeys, accounts.agents];
    const written = {
      logs: log.lines,
      topics: topics.map(({ records }) => records),
      marks: accounts.notificationMarks.records,
      others: [sessionsTopic.records, topic.records, fakes.sent, fakes.transfers],
      redis: [accounts.redis.seen, retries.entries, fakes.reserved, fakes.givenBack],
    };
    for (const [place, kept] of Object.entries(written)) {
      expect([place, secrets.foundIn(seenOf(kept))]).toEqual([place, []]);
    }
    expect(secrets.count).toBeGreaterThan(40);
    if (world.broken.isBroken) expect(log.lines.length).toBeGreaterThan(3);
    await app.close();
    await ingress.app.close();
  }
}, 300_000);
