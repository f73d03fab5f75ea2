import { type Defect, defects, without } from './defects.ts';
import { runSeed } from './run.ts';

/** Processor time in which a protection that is missing is found, milliseconds. */
const foundWithinMs = 60_000;

/** The first finding of the expected kinds; null when there is none in time. */
async function findingOf(defect: Defect): Promise<string | null> {
  const { kinds, finds, limits = {} } = defect;
  const before = process.cpuUsage();
  const tookMs = () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  for (let seed = 1; tookMs() < foundWithinMs; seed += 1) {
    const { findings } = await without(defect, () => runSeed({ seed, limits, kinds }));
    const found = findings.find(({ kind }) => finds.includes(kind));
    if (found !== undefined) return `seed ${seed}: ${found.kind}`;
  }
  return null;
}

test.each(Object.keys(defects))(
  'runs find that %s',
  async (name) => {
    expect(await findingOf(defects[name] as Defect)).not.toBeNull();
  },
  20 * 60_000,
);
