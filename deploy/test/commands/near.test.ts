import { nearSuites } from '../../src/commands/near.ts';

const related = {
  unit: ['kit/test/a.test.ts', 'matcher/test/b.test.ts'],
  engines: ['kit/test/c.engine.test.ts', 'matcher/test/d.engine.test.ts'],
};

test('related suites of the touched rooms are run, and few unit suites of others', () => {
  const { unit, engines, leftOut } = nearSuites(['kit/src/a.ts', 'README.md'], related);
  expect(unit).toEqual(related.unit);
  expect(engines).toEqual(['kit/test/c.engine.test.ts']);
  expect(leftOut).toBe(0);
});

test('many related unit suites of other rooms are left out and counted', () => {
  const many = Array.from({ length: 41 }, (_, nth) => `ingress/test/${nth}.test.ts`);
  const { unit, leftOut } = nearSuites(['kit/src/a.ts'], {
    ...related,
    unit: [...many, 'kit/test/a.test.ts'],
  });
  expect([unit, leftOut]).toEqual([['kit/test/a.test.ts'], 41]);
});

test('a suite with a whole exchange is run when a file beside it has changed', () => {
  const suites = [
    'acceptance/test/flood/flood.engine.test.ts',
    'acceptance/test/keys/keys.engine.test.ts',
  ];
  const { engines } = nearSuites(['acceptance/test/keys/key-pair.ts'], {
    unit: [],
    engines: suites,
  });
  expect(engines).toEqual(['acceptance/test/keys/keys.engine.test.ts']);
});
