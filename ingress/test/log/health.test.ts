import { servingOf as operatorServingOf } from '../../../operator/src/status.io.ts';
import { readinessOf, servingOf } from '../../src/status.io.ts';

interface How {
  ledger?: boolean;
  partition?: boolean;
  proven?: boolean;
  followed?: boolean;
}

function partsOf({ ledger = true, partition = true, proven = true, followed = true }: How) {
  return {
    partitions: {
      numbers: [0, 1],
      at: () => ({ inOffset: 0, clockMs: 0, atMs: 0 }) as never,
      isReady: (number: number) => partition && number === 1,
    },
    ledgerWatch: { isReady: () => ledger },
    signOff: { isProven: proven, rejecting: [] },
    notFollowed: () => (followed ? [] : ['stalled:executions']),
  };
}

test('ingress serves cancels without the ledger, and says that it is away', () => {
  const parts = partsOf({ ledger: false });
  expect(readinessOf(parts).ready).toBe(false);
  expect(servingOf(parts)).toEqual({ serving: true, reasons: ['ledger'] });
});

test('ingress serves nothing while it does not follow the log, or no partition takes what it signs', () => {
  expect(servingOf(partsOf({}))).toEqual({ serving: true, reasons: [] });
  expect(servingOf(partsOf({ followed: false }))).toEqual({
    serving: false,
    reasons: ['stalled:executions'],
  });
  expect(servingOf(partsOf({ proven: false }))).toEqual({
    serving: false,
    reasons: ['sign-off-key'],
  });
});

test('ingress says to clients when to come back while no partition has an owner', () => {
  expect(servingOf(partsOf({ partition: false }))).toEqual({
    serving: true,
    reasons: ['executions'],
  });
});

test('the operator serves without partitions, and says that they are away', () => {
  const { partitions, notFollowed } = partsOf({ partition: false });
  const serving = operatorServingOf({ partitions, notFollowed });
  expect(serving).toEqual({ serving: true, reasons: ['executions'] });
});
