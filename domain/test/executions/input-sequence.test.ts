import { InputSequence } from '../../src/executions/input-sequence.ts';

test('takes the next record, drops repetitions and sees gaps', () => {
  const sequence = new InputSequence(-1);
  const taken = [0, 1, 0, 1, 2, 4, 3].map((inOffset) => sequence.take({ inOffset }));
  expect(taken).toEqual(['next', 'next', 'repeated', 'repeated', 'next', 'gap', 'next']);
});
