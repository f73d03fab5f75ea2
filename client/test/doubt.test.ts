import { Random } from '@pm/kit/random';
import { runLength } from '../../kit/test/long-runs.ts';
import { ended } from '../../kit/test/passing-time.ts';
import { testDomain } from '../../kit/test/signing-domain.ts';
import {
  type BuiltOrder,
  buildOrder,
  ExchangeClient,
  ExchangeError,
  type OrderIntent,
  type Placement,
  type RetryPolicy,
  UnresolvedActionError,
  UnresolvedOrdersError,
  walletFromPrivateKey,
} from '../src/index.ts';
import { actionResult, refusedResult } from './fake-exchange.ts';
import { ModelExchange, page, responseOf } from './model-exchange.ts';

/**
 * Seeded histories against an exchange behind a network that loses, delays and refuses anything, on a clock of their
 * own: a client ends with what the log says, or says that it does not know. Each protection is removed once, by what
 * the client hears or by how it is called, and then the histories must find that.
 */

const retry = { firstPauseMs: 100, longestPauseMs: 500, totalMs: 4_000 };
const timeoutMs = 1_500;
const intent: OrderIntent = { tokenId: '7', side: 'BUY', price: '0.5', size: '10' };
const key = { apiKey: 'key', secret: `${'A'.repeat(43)}=`, passphrase: 'p', address: '0x00' };
// The model proves nothing, so that signatures need not be computed.
const signer = {
  ...walletFromPrivateKey(`0x${'11'.repeat(32)}`),
  sign: () => `0x${'11'.repeat(65)}`,
};
const histories = runLength({ test: 30, deep: 200 });
/** The histories in which each defect is found. */
const historiesMax = 200;
const faultPercents = [40, 70, 95];
const realFetch = globalThis.fetch;
type Fetch = ModelExchange['fetch'];

beforeEach(() => {
  // The ids of orders have their timestamps, so that the same histories come again.
  const now = 1_800_000_000_000;
  jest.useFakeTimers({ now, doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
});

afterEach(() => {
  globalThis.fetch = realFetch;
  jest.restoreAllMocks();
  jest.useRealTimers();
});

interface Histories {
  readonly random: Random;
  readonly model: ModelExchange;
  client(policy?: RetryPolicy): ExchangeClient;
}

/** A history of calls, and the errors found in it; none when it is right. */
type History = (parts: Histories) => Promise<string[]>;

/** The first seed whose history shows something wrong, with it; null when none does. */
async function firstWrong(
  history: History,
  {
    hear = (one) => one,
    count = historiesMax,
  }: { hear?: (fetch: Fetch) => Fetch; count?: number } = {},
) {
  for (let seed = 1; seed <= count; seed += 1) {
    const random = new Random(seed);
    seedCrypto(random);
    const model = new ModelExchange(random);
    globalThis.fetch = hear(model.fetch) as typeof fetch;
    const client = (policy: RetryPolicy = retry) => {
      const options = { baseUrl: 'http://model', signer, timeoutMs, concurrency: 2 };
      const one = new ExchangeClient({ ...options, retry: policy });
      one.useKey(key);
      return one;
    };
    const wrong = await ended(history({ random, model, client }));
    if (wrong.length > 0) return { seed, wrong };
  }
  return null;
}

function seedCrypto(random: Random): void {
  jest.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
    const bytes = new Uint8Array((array as unknown as Uint8Array).buffer);
    for (const index of bytes.keys()) bytes[index] = random.below(256);
    return array;
  });
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** Nothing that was sent arrives later. */
const everythingArrivesMs = 5_000;

type Ending = Placement[] | UnresolvedOrdersError | ExchangeError;

async function endingOf(placing: Promise<Placement[]>): Promise<Ending> {
  try {
    return await placing;
  } catch (error) {
    if (error instanceof UnresolvedOrdersError || error instanceof ExchangeError) return error;
    throw error;
  }
}

/** Result of each order as a call reports it: whether it was a success, null where the call does not know. */
function saidOf(ending: Ending, count: number): (boolean | null)[] {
  if (ending instanceof ExchangeError) return Array(count).fill(false);
  const results = Array.isArray(ending) ? ending : ending.results;
  return results.map((result) => result?.success ?? null);
}

/** Orders of one request, posted until the client knows of all, or three times. */
function postedHistory(
  again: (parts: Histories, client: ExchangeClient) => ExchangeClient = (_, client) => client,
): History {
  return async (parts) => {
    const { random, model } = parts;
    let client = parts.client();
    const count = 1 + random.below(3);
    let orders = await Promise.all(
      Array.from({ length: count }, () => client.prepareOrder(intent)),
    );
    const said = new Map<BuiltOrder, boolean | null>();
    const wrong: string[] = [];
    for (let call = 0; call < 3 && orders.length > 0; call += 1) {
      const startedMs = performance.now();
      model.faultPercent = random.pick(faultPercents);
      const ending = await endingOf(client.postOrders(orders));
      wrong.push(...overtime(model, startedMs));
      const says = saidOf(ending, orders.length);
      for (const [index, order] of orders.entries()) said.set(order, says[index] ?? null);
      orders = ending instanceof UnresolvedOrdersError ? [...ending.orders] : [];
      client = again(parts, client);
    }
    await sleep(everythingArrivesMs);
    return [...wrong, ...lies(model, said)];
  };
}

function overtime(model: ModelExchange, startedMs: number): string[] {
  const tookMs = performance.now() - startedMs;
  const last = model.posted.at(-1)?.atMs ?? startedMs;
  const isLong = tookMs > retry.totalMs + timeoutMs || last - startedMs > retry.totalMs;
  return isLong ? [`a call of ${tookMs} ms`] : [];
}

function lies(model: ModelExchange, said: ReadonlyMap<BuiltOrder, boolean | null>): string[] {
  const isBooked = ({ orderId }: BuiltOrder) => model.log.get(orderId) === 'booked';
  const wrong = [...said].filter(([order, says]) => says !== null && says !== isBooked(order));
  return wrong.map(([{ orderId }, says]) => `says ${says} of ${model.log.get(orderId)}`);
}

/** Intents: whatever is booked is known, and nothing is signed beside an order that may be booked. */
function placedHistory(place: (client: ExchangeClient, count: number) => Promise<Ending>): History {
  return async ({ random, model, client }) => {
    const count = 1 + random.below(3);
    model.faultPercent = random.pick(faultPercents);
    const ending = await place(client(), count);
    await sleep(everythingArrivesMs);
    const ids = new Set(model.posted.flatMap((request) => request.ids));
    const booked = [...ids].filter((id) => model.log.get(id) === 'booked');
    const open = ending instanceof UnresolvedOrdersError ? ending.orders : [];
    const known = new Set<string>([...open.map(({ orderId }) => orderId), ...placedIds(ending)]);
    const wrong = booked.filter((id) => !known.has(id)).map((id) => `nobody knows of ${id}`);
    const replaced = [...ids].filter((id) => model.log.get(id) !== 'too_late');
    return replaced.length > count ? [...wrong, 'another order was signed'] : wrong;
  };
}

/** Placements, some waiting, and a cancel of all: what waits is not sent, what was sent is known. */
function canceledHistory(
  canceling: (parts: Histories, client: ExchangeClient) => ExchangeClient,
): History {
  return async (parts) => {
    const { random, model } = parts;
    model.faultPercent = 30;
    const client = parts.client();
    const count = 1 + random.below(8);
    const placing = Array.from({ length: count }, () => endingOf(client.placeOrders([intent])));
    await sleep(random.below(200));
    const canceledMs = performance.now();
    const { in_transit } = await canceling(parts, client).cancelAll();
    const later = [...model.bookedSinceCancel];
    const endings = await Promise.all(placing);
    await sleep(everythingArrivesMs);
    const known = new Set<string>([...in_transit, ...endings.flatMap(placedIds)]);
    const unknown = [...later, ...model.bookedSinceCancel].filter((id) => !known.has(id));
    const wrong = unknown.map((id) => `nobody knows of ${id}`);
    const isLate = model.posted.some(({ atMs }) => atMs > canceledMs);
    return isLate ? [...wrong, 'sent after the cancel'] : wrong;
  };
}

function placedIds(ending: Ending): string[] {
  if (ending instanceof ExchangeError) return [];
  const results = Array.isArray(ending) ? ending : ending.results;
  return results.flatMap((result) => (result?.success === true ? [result.orderID] : []));
}

/**
 * A caller that wants one split, repeats one that is unresolved with the id of the error, and after a refusal begins
 * another one.
 */
function paidHistory(
  idOf: (error: UnresolvedActionError) => string | null = ({ actionId }) => actionId,
  again: (parts: Histories, client: ExchangeClient) => ExchangeClient = (_, client) => client,
): History {
  return async (parts) => {
    const { random, model } = parts;
    let client = parts.client({ ...retry, totalMs: random.below(2) * 2_000 });
    let says: boolean | null = null;
    let id: string | null = null;
    for (let call = 0; call < 4 && says !== true; call += 1) {
      model.faultPercent = random.pick(faultPercents);
      const named = id === null ? {} : { id };
      const failure = await failureOf(client.account.split({ ...splitOfFive, ...named }));
      says = failure instanceof UnresolvedActionError ? null : failure === null;
      id = failure instanceof UnresolvedActionError ? idOf(failure) : null;
      client = again(parts, client);
    }
    await sleep(everythingArrivesMs);
    return falsePayments(model, says);
  };
}

/** Errors in the knowledge of a caller about its actions: true for one, false for none, null when it does not know. */
function falsePayments({ actions }: ModelExchange, says: boolean | null): string[] {
  const done = [...actions.values()].filter((fate) => fate === 'done').length;
  const isRight = says === null ? done <= 1 : done === Number(says);
  return isRight ? [] : [`says ${says} where ${done} are done`];
}

const splitOfFive = { conditionId: '0x1', amount: '5' };

/** Null for a result. */
async function failureOf(
  splitting: Promise<unknown>,
): Promise<UnresolvedActionError | ExchangeError | null> {
  try {
    await splitting;
    return null;
  } catch (error) {
    if (error instanceof UnresolvedActionError || error instanceof ExchangeError) return error;
    throw error;
  }
}

const intents = (count: number): OrderIntent[] => Array.from({ length: count }, () => intent);
const placed = (client: ExchangeClient, count: number): Promise<Ending> =>
  endingOf(client.placeOrders(intents(count)));

/** The client hears each refusal of an order as one that the matcher remembers, and of the log that it has nothing. */
const believesRefusals =
  (fetch: Fetch): Fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    const { pathname } = new URL(String(input));
    if (pathname.startsWith('/data/order/')) return responseOf(404, {});
    const text = await response.text();
    if (!pathname.startsWith('/order') || text === page) return response;
    const body: unknown = JSON.parse(text);
    const results = [body].flat() as { success?: boolean }[];
    const remembered = results.map((one) =>
      one.success === false ? refusedResult('fok_not_filled') : one,
    );
    return responseOf(response.status, Array.isArray(body) ? remembered : remembered[0]);
  };

/** The client hears each 200 to an account action as its result. */
const readsAnything =
  (fetch: Fetch): Fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    const isAction = new URL(String(input)).pathname.startsWith('/account/');
    return isAction && response.ok ? responseOf(200, actionResult('')) : response;
  };

/** The client hears of a log that cannot be read that it has nothing. */
const believesSilence =
  (fetch: Fetch): Fetch =>
  async (input, init) => {
    if (!new URL(String(input)).pathname.startsWith('/data/order/'))
      return await fetch(input, init);
    const response = await fetch(input, init).catch(() => null);
    return response?.ok || response?.status === 404 ? response : responseOf(404, {});
  };

describe('a client whose requests are lost, delayed, refused and repeated', () => {
  test('says of each posted order what the log says, or that it does not know', async () => {
    expect(await firstWrong(postedHistory(), { count: histories })).toBeNull();
  });

  test('knows every order that it signed, and signs none beside one that may be booked', async () => {
    expect(await firstWrong(placedHistory(placed), { count: histories })).toBeNull();
  });

  test('sends nothing that waits once all orders were canceled, and knows what it had sent', async () => {
    expect(
      await firstWrong(
        canceledHistory((_, client) => client),
        { count: histories },
      ),
    ).toBeNull();
  });

  test('says of each account action what the log says, or that it does not know', async () => {
    expect(await firstWrong(paidHistory(), { count: histories })).toBeNull();
  });
});

const unanswered = ({ signal }: RequestInit): Promise<Response> =>
  new Promise((_, reject) =>
    signal?.addEventListener('abort', () => reject(new TypeError('aborted'))),
  );

test('no attempt starts after the retry budget of its call, whatever the call waited for', async () => {
  const startedMs: number[] = [];
  globalThis.fetch = ((_input: unknown, init: RequestInit) => {
    startedMs.push(performance.now());
    return unanswered(init);
  }) as typeof fetch;
  const policy = { ...retry, totalMs: 4_000 };
  const options = { baseUrl: 'http://model', signer, domain: testDomain, timeoutMs: 900 };
  const client = new ExchangeClient({ ...options, retry: policy, concurrency: 2 });
  client.useKey(key);
  const order = buildOrder(intent, {
    signer,
    domain: testDomain,
    negRisk: false,
    owner: key.apiKey,
    nowMs: 1,
  });
  const calledMs = performance.now();
  const calls = Array.from({ length: 24 }, () => endingOf(client.postOrders([order])));
  await ended(Promise.all(calls));
  expect(startedMs.length).toBeGreaterThan(2);
  expect(Math.max(...startedMs) - calledMs).toBeLessThanOrEqual(policy.totalMs);
  expect(performance.now() - calledMs).toBeLessThanOrEqual(policy.totalMs + options.timeoutMs + 20);
});

test.each<[string, (client: ExchangeClient) => Promise<unknown>]>([
  ['placeOrder', (client) => client.placeOrder(intent)],
  ['connect', (client) => client.connect()],
  ['verifySigningDomain', (client) => client.verifySigningDomain()],
])('%s has one retry budget, also where it fetches the signing domain', async (_, call) => {
  const startedMs: number[] = [];
  const calledMs = performance.now();
  let isAnswered = false;
  // Most of the budget passes until the first read is answered; what follows never is.
  globalThis.fetch = (async (_input: unknown, init: RequestInit) => {
    startedMs.push(performance.now() - calledMs);
    if (isAnswered || performance.now() - calledMs < retry.totalMs / 2) return unanswered(init);
    isAnswered = true;
    return responseOf(200, { ...testDomain, neg_risk: false });
  }) as typeof fetch;
  const client = new ExchangeClient({ baseUrl: 'http://model', signer, timeoutMs: 900, retry });
  client.useKey(key);
  await ended(expect(call(client)).rejects.toThrow(ExchangeError));
  expect(isAnswered).toBe(true);
  expect(Math.max(...startedMs)).toBeLessThanOrEqual(retry.totalMs);
});

describe('the histories find a client that', () => {
  test('believes a refusal of an order that may be on the log', async () => {
    expect(await firstWrong(postedHistory(), { hear: believesRefusals })).not.toBeNull();
  });

  test('takes a log that cannot be read for one without the order', async () => {
    expect(await firstWrong(postedHistory(), { hear: believesSilence })).not.toBeNull();
  });

  test('forgets between calls that an order may be on the log', async () => {
    expect(await firstWrong(postedHistory((parts) => parts.client()))).not.toBeNull();
  });

  test('has no deadline', async () => {
    const endless = { ...retry, totalMs: 60_000 };
    const history: History = (parts) =>
      postedHistory()({ ...parts, client: () => parts.client(endless) });
    expect(await firstWrong(history)).not.toBeNull();
  });

  test('signs another order for one that it does not know of', async () => {
    const impatient = async (client: ExchangeClient, count: number): Promise<Ending> => {
      const ending = await placed(client, count);
      return ending instanceof UnresolvedOrdersError ? await placed(client, count) : ending;
    };
    expect(await firstWrong(placedHistory(impatient))).not.toBeNull();
  });

  test('lets placements wait on when all orders are canceled', async () => {
    expect(await firstWrong(canceledHistory((parts) => parts.client()))).not.toBeNull();
  });

  test('repeats an account action under another id', async () => {
    expect(await firstWrong(paidHistory(() => null))).not.toBeNull();
  });

  test('forgets between calls that an account action may be carried out', async () => {
    const forgetting = paidHistory(undefined, (parts) => parts.client());
    expect(await firstWrong(forgetting)).not.toBeNull();
  });

  test('takes every 200 for the result of an account action', async () => {
    expect(await firstWrong(paidHistory(), { hear: readsAnything })).not.toBeNull();
  });
});
