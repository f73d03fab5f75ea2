import { PartitionLifecycle, partitionStates } from '../../src/partition/lifecycle.ts';

describe('partition states', () => {
  const paths = {
    released: [],
    restoring: ['restoring'],
    live: ['restoring', 'live'],
    stalled: ['restoring', 'live', 'stalled'],
    failed: ['restoring', 'failed'],
  } as const;
  const allowed = new Set([
    'released>restoring',
    'restoring>live',
    'restoring>failed',
    'restoring>released',
    'live>stalled',
    'stalled>live',
    'stalled>failed',
    'stalled>released',
    'live>failed',
    'live>released',
    'failed>restoring',
    'failed>released',
  ]);

  for (const from of partitionStates) {
    for (const to of partitionStates) {
      const may = allowed.has(`${from}>${to}`);
      test(`${from} ${may ? 'may' : 'may not'} become ${to}`, () => {
        const seen: string[] = [];
        const states = new PartitionLifecycle(1, (state) => seen.push(state));
        for (const step of paths[from]) states.change(step);
        if (may) states.change(to);
        else expect(() => states.change(to)).toThrow('forbidden_transition');
        expect(states.state).toBe(may ? to : from);
        expect(seen.at(-1)).toBe(states.state);
      });
    }
  }
});
