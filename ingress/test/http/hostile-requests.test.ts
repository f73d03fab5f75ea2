import type { CommentWritten } from '@pm/schemas/http/comments';
import { refusalCodes } from '@pm/schemas/refusals';
import type { LightMyRequestResponse } from 'fastify';
import { Value } from 'typebox/value';
import { Dice } from '../../../kit/test/hostile/dice.ts';
import { isErrorOf } from '../../../kit/test/hostile/error-bodies.ts';
import { heapInUse } from '../../../kit/test/hostile/heap.ts';
import { runLength } from '../../../kit/test/long-runs.ts';
import {
  type Caller,
  callerWallets,
  carriesOut,
  type Hostile,
  hostileRequest,
  injectionOf,
  openCaller,
  plainRequest,
} from '../hostile-fixture.ts';
import { type IngressUnderTest, openIngress, trioIn } from '../ingress-fixture.ts';
import { nameOf, writeRouteOf, writeRoutes, writeTable } from '../write-routes-fixture.ts';

/** The deep run is what the exchange promises to survive. */
const requests = runLength({ test: 1_250, deep: 52_000 });
const warmUpRequests = Math.ceil(requests / 5);
/** The memory that ingress keeps of so many bad requests: keys and comments up to their limits, and compiled code. */
const heapGrowthMaxBytes = 3 * 1024 * 1024 + 400 * requests;
/** Before each round revoked keys are replaced, and what the fixture has noted is forgotten. */
const roundsMax = 130;
/** Fewer would take less time than the keys of their round. */
const requestsPerRoundMin = 20;
const requestsPerRound = Math.max(requestsPerRoundMin, Math.ceil(requests / roundsMax));
const tooLarge = Buffer.from(JSON.stringify({ x: 'y'.repeat(300_000) }));

const refused = [400, 401, 403, 404, 409, 413, 415, 422, 429];

/** The dependencies that may be unavailable, and the responses that are right only then. */
interface Weather {
  readonly statuses: readonly number[];
  set(ingress: IngressUnderTest): void;
}

const weathers: readonly Weather[] = [
  { set: () => {}, statuses: [] },
  { set: ({ fakes }) => Object.assign(fakes, { ready: false }), statuses: [425] },
  { set: ({ fakes }) => Object.assign(fakes, { reserve: 'not_ready' }), statuses: [503] },
  { set: ({ fakes }) => Object.assign(fakes, { reserve: 'insufficient' }), statuses: [] },
  { set: ({ fakes }) => Object.assign(fakes, { signaturesFull: true }), statuses: [503] },
  { set: ({ fakes }) => Object.assign(fakes, { written: 'unknown' }), statuses: [503] },
  { set: ({ retries }) => Object.assign(retries, { isAway: true }), statuses: [503] },
  {
    set: ({ fakes }) => Object.assign(fakes, { answer: () => ({ kind: 'pending' }) }),
    statuses: [503],
  },
];

test('every write route says what it takes', () => {
  expect(Object.keys(writeTable).sort()).toEqual(writeRoutes.map(nameOf).sort());
});

test(`${requests} hostile requests break nothing, get documented responses, and leave nothing in memory`, async () => {
  const ingress = await openIngress();
  const dice = new Dice(20_261_122);
  const run = new Run(ingress, dice);
  await run.sendPlain();
  await run.send(warmUpRequests);
  const before = await heapInUse();
  await run.send(requests - warmUpRequests);
  const grown = (await heapInUse()) - before;
  await ingress.app.close();
  expect(run.wrong).toEqual([]);
  expect(run.sent).toBeGreaterThanOrEqual(requests);
  for (const status of [200, 400, 401, 403, 404, 413, 415, 425, 503]) {
    expect([status, (run.statuses.get(status) ?? 0) > 0]).toEqual([status, true]);
  }
  expect([...run.succeeded].sort()).toEqual(writeRoutes.map(nameOf).sort());
  expect(grown).toBeLessThan(heapGrowthMaxBytes);
}, 1_800_000);

const wrongMax = 10;
const newestComments = 2;

/** The order with the present API key of its caller as its owner, if the caller owns it. */
function ownedBy(apiKey: string, order: object, { trio }: Caller): object {
  const isOwn = Reflect.get(order, 'owner') === trio.apiKey;
  return isOwn ? { ...order, owner: apiKey } : order;
}

/** Sends and judges. */
class Run {
  readonly statuses = new Map<number, number>();
  readonly succeeded = new Set<string>();
  readonly wrong: unknown[] = [];
  sent = 0;
  #rounds = 0;
  readonly #ingress: IngressUnderTest;
  readonly #dice: Dice;
  #callers: readonly Caller[] = [];
  readonly #comments: string[] = [];

  constructor(ingress: IngressUnderTest, dice: Dice) {
    this.#ingress = ingress;
    this.#dice = dice;
  }

  async send(count: number): Promise<void> {
    for (let sent = 0; sent < count; sent += requestsPerRound) await this.#round();
  }

  /** Each route in each weather as it should be asked, and with a body that is too large. */
  async sendPlain(): Promise<void> {
    for (const weather of weathers) {
      for (const route of writeRoutes) {
        await this.#begin(weather);
        const plain = plainRequest(route, this.#callers[0] as Caller, this.#dice);
        await this.#ask(plain, weather);
        if (plain.body !== null) await this.#ask({ ...plain, body: tooLarge }, weather);
      }
    }
  }

  async #begin(weather: Weather): Promise<void> {
    this.#clear();
    this.#callers = await this.#reopenCallers();
    weather.set(this.#ingress);
  }

  async #round(): Promise<void> {
    const dice = this.#dice;
    const weather = this.#nextWeather();
    await this.#begin(weather);
    for (let count = 0; count < requestsPerRound; count += 1) {
      await this.#ask(
        hostileRequest(dice.pick(writeRoutes), dice.pick(this.#callers), dice),
        weather,
      );
      this.sent += 1;
    }
  }

  async #ask(hostile: Hostile, weather: Weather): Promise<void> {
    const answer = await this.#ingress.app.inject(injectionOf(hostile));
    this.#judge(hostile, answer, weather.statuses);
  }

  /** Calm two times of three, and everything else one after the other. */
  #nextWeather(): Weather {
    this.#rounds += 1;
    const at = this.#rounds % 3 === 0 ? (this.#rounds / 3) % weathers.length : 0;
    return weathers[at] as Weather;
  }

  /** Orders are signed once; revoked keys are followed by new ones. */
  async #reopenCallers(): Promise<readonly Caller[]> {
    const { keys, services } = this.#ingress;
    if (this.#callers.length === 0) {
      return await Promise.all(callerWallets.map((wallet) => openCaller(this.#ingress, wallet)));
    }
    return await Promise.all(
      this.#callers.map(async (caller) => {
        const wallet = caller.wallet.address as Parameters<typeof keys.create>[0];
        const trio = trioIn(await keys.create(wallet, '0'));
        const orders = caller.orders.map((order) => ownedBy(trio.apiKey, order, caller));
        const agents = services.accounts.agents.list(wallet).map(({ id }) => id);
        const readKey =
          services.accounts.readOnlyKeys.list(wallet)[0] ??
          (await services.accounts.readOnlyKeys.create(wallet));
        const comments = this.#comments.slice(-newestComments);
        return { ...caller, trio, orders, agents, comments, readKey: String(readKey) };
      }),
    );
  }

  #clear(): void {
    const { fakes, retries } = this.#ingress;
    for (const noted of [fakes.sent, fakes.transfers, fakes.reserved, fakes.givenBack]) {
      noted.length = 0;
    }
    const calm = { ready: true, reserve: 'reserved', signaturesFull: false, written: 'written' };
    Object.assign(fakes, { ...calm, answer: carriesOut });
    retries.isAway = false;
    retries.nowMs += 3_600_000;
  }

  #judge(hostile: Hostile, answer: LightMyRequestResponse, alsoAllowed: readonly number[]): void {
    const { statusCode: status } = answer;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    const isFine = hostile.isRouted
      ? this.#isDocumented(hostile, answer, alsoAllowed)
      : status < 500 || alsoAllowed.includes(status);
    if (isFine || this.wrong.length >= wrongMax) return;
    const { method, url, headers, body } = hostile;
    const sent = { method, url, headers, body: body?.toString('utf8').slice(0, 2_000) };
    this.wrong.push({ sent, status, answer: answer.body });
  }

  #isDocumented(
    { route }: Hostile,
    answer: LightMyRequestResponse,
    alsoAllowed: readonly number[],
  ): boolean {
    const { statusCode: status } = answer;
    if (!String(answer.headers['content-type']).startsWith('application/json')) return false;
    const body = answer.json() as unknown;
    if (status === 200) {
      this.succeeded.add(nameOf(route));
      if (route.path === '/comments') this.#comments.push((body as CommentWritten).id);
      return Value.Check(writeRouteOf(route).answer, body);
    }
    const code: unknown = Reflect.get(body as object, 'code');
    const isKnown = code === undefined || refusalCodes.some((one) => one === code);
    return [...refused, ...alsoAllowed].includes(status) && isKnown && isErrorOf(route, body);
  }
}
