import type { Installation } from '@pm/deploy/installation/open';
import { HaltedBatches } from '../../src/rebuild/halted-batches.ts';
import { whileHeld } from '../../src/rebuild/hold.ts';
import type { Rebuild } from '../../src/rebuild/progress.ts';

/** Between two looks at the clock, milliseconds. */
const stepMs = 4_000;

/** Projectors as the commits of their group show them. */
class FakeProjectors {
  readonly commits = new Map<number, { offset: number; metadata: string }>();
  looks = 0;
  readonly rebuild: Rebuild;

  constructor() {
    const admin = {
      commits: async () => {
        this.looks += 1;
        return new Map(this.commits);
      },
      groupMembers: async () => new Map([[0, {}]]),
      close: async () => {},
    };
    this.rebuild = {
      installation: {
        client: { admin: async () => admin },
        addresses: { topicPrefix: 't-' },
      } as unknown as Installation,
      tables: { selectRows: async () => [], command: async () => {} },
      served: 'pm',
      rebuilt: 'pm_rebuild',
      snapshot: 'pm_still',
      halted: new HaltedBatches(),
      isAlone: () => true,
      assertMayGoOn: () => {},
    };
  }

  /** Looks at the commits before the work begins. */
  async looksUntilRest(): Promise<number> {
    const before = this.looks;
    await whileHeld(this.rebuild, { goesOnHalted: true }, async () => {});
    return this.looks - before;
  }
}

let projectors: FakeProjectors;

beforeEach(() => {
  projectors = new FakeProjectors();
  let nowMs = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => {
    nowMs += stepMs;
    return nowMs;
  });
});

afterEach(() => {
  jest.restoreAllMocks();
});

describe('a hold', () => {
  test('waits for no batch when none is open', async () => {
    projectors.commits.set(0, { offset: 5, metadata: '' });
    expect(await projectors.looksUntilRest()).toBe(1);
  });

  test('waits once in a run for a batch that a halted projector leaves open, and for each later one', async () => {
    projectors.commits.set(0, { offset: 5, metadata: '9' });
    expect(await projectors.looksUntilRest()).toBeGreaterThan(1);
    expect(await projectors.looksUntilRest()).toBe(1);
    projectors.commits.set(1, { offset: 3, metadata: '4' });
    expect(await projectors.looksUntilRest()).toBeGreaterThan(1);
    projectors.commits.set(0, { offset: 9, metadata: '12' });
    expect(await projectors.looksUntilRest()).toBeGreaterThan(1);
    expect(await projectors.looksUntilRest()).toBe(1);
  });

  test('fails at a batch that stays open, unless it may go on', async () => {
    projectors.commits.set(3, { offset: 5, metadata: '9' });
    const held = whileHeld(projectors.rebuild, { goesOnHalted: false }, async () => {});
    await expect(held).rejects.toThrow('do not end their batch of partition 3');
  });
});
