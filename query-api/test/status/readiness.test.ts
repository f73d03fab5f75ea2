import { readinessOf } from '../../src/status/ops.io.ts';
import { reasonsOf } from '../../src/streams/readiness.ts';

const silent = ['reader:catalog:0'];

test('a process of queries with a reader of the log without answers is not ready', () => {
  const engines = { redisUp: () => true, clickhouseUp: () => true };
  const facts = { engines, isCaughtUp: () => true };
  expect([
    readinessOf({ ...facts, notFollowed: () => [] }),
    readinessOf({ ...facts, notFollowed: () => silent }),
  ]).toEqual([
    { ready: true, reasons: [] },
    { ready: false, reasons: silent },
  ]);
});

test('a process of streams is ready when it listens and all that it follows is answered', () => {
  const caughtUp = { partition: 0, isCaughtUp: true, fault: null };
  const facts = { isListening: true, partitions: [caughtUp], notFollowed: [] };
  expect(
    [
      facts,
      { ...facts, isListening: false },
      { ...facts, partitions: [] },
      { ...facts, partitions: [{ ...caughtUp, isCaughtUp: false }] },
      { ...facts, partitions: [{ ...caughtUp, fault: 'offset_gap' }] },
      { ...facts, notFollowed: silent },
    ].map(reasonsOf),
  ).toEqual([[], ['catalog'], ['kafka'], ['restoring:0'], ['log:0'], silent]);
});
