/** @jest-environment node */
import { runLength, spread } from '../../long-runs.ts';
import { type Defect, defects, without } from './defects.ts';
import { runSeed } from './run.ts';

/** A missing protection is found by one of as many seeds. */
const seedsMax = 60;

/** The first seed with one of the expected findings; null when none has one. */
async function findingSeed(run: typeof runSeed, defect: Defect): Promise<number | null> {
  const { kinds, finds, limits = {} } = defect;
  for (let seed = 1; seed <= seedsMax; seed += 1) {
    const { findings } = await run({ seed, limits, kinds });
    if (findings.some(({ kind }) => finds.includes(kind))) return seed;
  }
  return null;
}

const all = Object.entries(defects);
const soonFound = all.filter(([, { isLong }]) => isLong !== true);
const count = runLength({ test: 5, deep: all.length });

test.each(count < all.length ? spread(soonFound, count) : all)(
  'runs find that %s, and nothing with the whole client',
  async (_, defect) => {
    const seed = await findingSeed(await without(defect), defect);
    expect(seed).not.toBeNull();
    const { findings } = await runSeed({ seed: seed ?? 0, kinds: defect.kinds });
    expect(findings).toEqual([]);
  },
  20 * 60_000,
);
