import { functionTimes, topFunctions } from '../../src/profile/function-times.ts';

const frame = (functionName: string, url = `file:///room/dist/${functionName}.js`) => ({
  functionName,
  url,
  lineNumber: 0,
});

/** (root) -> f -> g -> f, and (idle); one sample of a millisecond in each but the first. */
const profile = {
  startTime: 0,
  nodes: [
    { id: 1, callFrame: frame('(root)', ''), children: [2, 5] },
    { id: 2, callFrame: frame('f'), children: [3] },
    { id: 3, callFrame: frame('g'), children: [4] },
    { id: 4, callFrame: frame('f') },
    { id: 5, callFrame: frame('(idle)', '') },
  ],
  samples: [2, 3, 4, 5],
  timeDeltas: [1_000, 1_000, 1_000, 5_000],
};

describe('the times of a profile', () => {
  it('count own time by function, and inclusive time once where a function calls itself', () => {
    const { functions } = functionTimes(profile);
    expect(functions).toEqual([
      { name: 'f (room/dist/f.js:1)', selfMs: 2, inclusiveMs: 3 },
      { name: 'g (room/dist/g.js:1)', selfMs: 1, inclusiveMs: 2 },
    ]);
  });

  it('leave waiting out of the time on the processor', () => {
    expect(functionTimes(profile)).toMatchObject({ busyMs: 3, allMs: 8 });
  });

  it('are listed by the largest', () => {
    const names = (by: 'selfMs' | 'inclusiveMs') =>
      topFunctions(functionTimes(profile), by, 1).map(({ name }) => name.slice(0, 1));
    expect([names('selfMs'), names('inclusiveMs')]).toEqual([['f'], ['f']]);
  });
});
