import type { CommandResult } from '@pm/domain/commands/result-waiters';
import { silentLog } from '@pm/kit/log';
import { SignOffProof } from '../../src/log/sign-off-proof.io.ts';
import { answered } from '../ingress-fixture.ts';

function open() {
  const fakes = {
    ready: [true, true],
    tried: [] as number[],
    answer: (_partition: number): CommandResult => answered([]),
  };
  const proof = new SignOffProof({
    log: silentLog,
    partitions: { numbers: [0, 1], isReady: (partition) => fakes.ready[partition] === true },
    commands: {
      run: async (partition) => {
        fakes.tried.push(partition);
        return fakes.answer(partition);
      },
    },
  });
  return { proof, fakes };
}

test('a key is proven by a partition that takes it, and each partition is tried until it does', async () => {
  const { proof, fakes } = open();
  fakes.ready = [false, false];
  await proof.round();
  expect([proof.isProven, fakes.tried]).toEqual([false, []]);
  fakes.ready = [true, false];
  fakes.answer = () => ({ kind: 'pending' });
  await proof.round();
  expect(proof.isProven).toBe(false);
  fakes.answer = () => answered([]);
  await proof.round();
  expect(proof.isProven).toBe(true);
  fakes.ready = [true, true];
  await proof.round();
  await proof.round();
  expect(fakes.tried).toEqual([0, 0, 1]);
});

test('a partition that rejects a command is asked again, so that a key retired in use is noticed', async () => {
  const { proof, fakes } = open();
  await proof.round();
  fakes.answer = () => ({ kind: 'rejected' });
  await proof.round();
  expect(proof.isProven).toBe(true);
  proof.onRejected(1);
  await proof.round();
  expect([proof.isProven, proof.rejecting, fakes.tried]).toEqual([false, [1], [0, 1, 1]]);
});

test('rounds begin at once and end with a close', async () => {
  const { proof, fakes } = open();
  const rounds = proof.start();
  await rounds.close();
  expect([proof.isProven, fakes.tried]).toEqual([true, [0, 1]]);
});

test('a key that one partition rejects is not proven until it is listed there', async () => {
  const { proof, fakes } = open();
  fakes.answer = (partition) => (partition === 1 ? { kind: 'rejected' } : answered([]));
  const pausesMs = [await proof.round(), await proof.round()];
  expect([proof.isProven, proof.rejecting]).toEqual([false, [1]]);
  expect(pausesMs[1]).toBeGreaterThan(pausesMs[0] ?? 0);
  fakes.answer = () => answered([]);
  await proof.round();
  expect([proof.isProven, proof.rejecting]).toEqual([true, []]);
});
