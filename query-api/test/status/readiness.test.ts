import { reasonsOf, servesSome } from '../../../streams/src/readiness.ts';
import { readinessOf, servingOf } from '../../src/status/ops.io.ts';

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

test('a process of queries serves from its memory while engines are away, which it names', () => {
  const engines = { redisUp: () => false, clickhouseUp: () => false };
  const facts = { engines, notFollowed: () => [] };
  const away = ['redis', 'clickhouse'];
  expect([
    servingOf({ ...facts, isCaughtUp: () => true }),
    servingOf({ ...facts, isCaughtUp: () => false }),
  ]).toEqual([
    { serving: true, reasons: away },
    { serving: false, reasons: ['catalog', ...away] },
  ]);
});

test('a process of streams serves while it follows a partition to its end', () => {
  const caughtUp = { partition: 0, isCaughtUp: true, fault: null };
  const silentOne = { ...caughtUp, partition: 1, fault: 'offset_gap' };
  const facts = { isListening: true, partitions: [silentOne, caughtUp], notFollowed: silent };
  expect(
    [
      facts,
      { ...facts, isListening: false },
      { ...facts, partitions: [] },
      { ...facts, partitions: [silentOne, { ...caughtUp, isCaughtUp: false }] },
    ].map(servesSome),
  ).toEqual([true, false, false, false]);
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
