import { servingOf as operatorServingOf } from '../../src/operator/status.io.ts';
import { readinessOf, servingOf } from '../../src/status.io.ts';

function partsOf(how: { ledger?: boolean; partition?: boolean; proven?: boolean }) {
  const { ledger = true, partition = true, proven = true } = how;
  return {
    partitions: {
      count: 2,
      at: () => ({ inOffset: 0, clockMs: 0, atMs: 0 }) as never,
      isReady: (number: number) => partition && number === 1,
    },
    ledgerWatch: { isReady: () => ledger },
    signOff: { isProven: proven, rejecting: [] },
    notFollowed: () => [],
  };
}

test('ingress serves cancels without the ledger, and says that it is away', () => {
  const parts = partsOf({ ledger: false });
  expect(readinessOf(parts).ready).toBe(false);
  expect(servingOf(parts)).toEqual({ serving: true, reasons: ['ledger'] });
});

test('ingress serves nothing while no partition works, or takes what it signs', () => {
  expect(servingOf(partsOf({}))).toEqual({ serving: true, reasons: [] });
  expect(servingOf(partsOf({ partition: false }))).toEqual({
    serving: false,
    reasons: ['executions'],
  });
  expect(servingOf(partsOf({ proven: false }))).toEqual({
    serving: false,
    reasons: ['sign-off-key'],
  });
});

test('the operator serves without partitions, and says that they are away', () => {
  const { partitions, notFollowed } = partsOf({ partition: false });
  const serving = operatorServingOf({ partitions, notFollowed });
  expect(serving).toEqual({ serving: true, reasons: ['executions'] });
});
