import { restIdleConnections } from '../../src/kafka/kafkajs-timers.io.ts';
import { silentLog } from '../../src/log/index.ts';

interface Queue {
  push(request: object): void;
  fulfillRequest(answer: object): void;
  maybeThrottle(ms: number): void;
}

const RequestQueue: new (options: object) => Queue = jest.requireActual(
  'kafkajs/src/network/requestQueue/index.js',
);
const throttleMs = 500;
let sent: number[];
let queue: Queue;

beforeEach(() => {
  jest.useFakeTimers();
  restIdleConnections();
  sent = [];
  queue = new RequestQueue({ maxInFlightRequests: 1, requestTimeout: 30_000, logger: silentLog });
});

afterEach(() => jest.useRealTimers());

function ask(correlationId: number): void {
  queue.push({
    entry: { correlationId, apiName: 'Fetch', apiKey: 1, apiVersion: 11, resolve: () => {} },
    expectResponse: true,
    sendRequest: () => sent.push(correlationId),
  });
}

const answer = (correlationId: number) =>
  queue.fulfillRequest({ correlationId, payload: Buffer.alloc(0), size: 0 });

test('a connection without a waiting request has no timer', () => {
  ask(1);
  expect([sent, jest.getTimerCount()]).toEqual([[1], 0]);
  answer(1);
  expect(jest.getTimerCount()).toBe(0);
});

test('a request that waits for its place is sent when the one before is answered', () => {
  ask(1);
  ask(2);
  expect(sent).toEqual([1]);
  answer(1);
  expect(sent).toEqual([1, 2]);
});

test('a request that waits for the end of a throttle is sent then, and no timer is left', () => {
  queue.maybeThrottle(throttleMs);
  ask(1);
  jest.advanceTimersByTime(throttleMs - 20);
  expect(sent).toEqual([]);
  jest.advanceTimersByTime(40);
  expect(sent).toEqual([1]);
  answer(1);
  jest.advanceTimersByTime(100);
  expect(jest.getTimerCount()).toBe(0);
});
