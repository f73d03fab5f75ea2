import { connect, disconnect, forgetAll, type Owner, World } from './refold-world.ts';

/**
 * After any loss, death and return of a process: a response is a 503 or the book of the log at some offset, and
 * never of an earlier one than was stored before.
 */
beforeAll(connect);
beforeEach(forgetAll);
afterAll(disconnect);

it('serves no book of a partition that is folded again before all of it is folded', async () => {
  const world = new World(3, 60);
  world.grow(60);
  await world.catchUp();
  await world.expectWhole();
  await world.flush();
  const owner = await world.assign();
  expect(owner.at).toBe(0);
  world.served = 0;
  while (owner.at < 50) {
    await world.project(owner);
    await world.look();
  }
  expect(world.served).toBe(0);
  await world.catchUp(owner);
  await world.expectWhole();
});

it('begins lost books with a checkpoint, and serves none before all of the log is folded', async () => {
  const world = new World(3, 60);
  world.grow(40);
  world.takeCheckpoint();
  world.grow(20);
  await world.catchUp();
  await world.flush();
  const owner = await world.assign();
  expect(owner.at).toBe(40);
  world.served = 0;
  await world.look();
  expect(world.served).toBe(0);
  await world.catchUp(owner);
  await world.expectWhole();
  await world.flush();
  world.takeCheckpoint();
  expect((await world.assign()).at).toBe(60);
  await world.expectWhole();
});

it.each([1, 2, 3, 4, 5, 6])(
  'takes no market for new that an emptied Redis has lost (history %i)',
  async (seed) => {
    const world = new World(seed, 60);
    world.grow(40);
    await world.catchUp();
    const owner = await world.assign();
    await world.flush();
    world.grow(20);
    expect(await world.project(owner)).toBe(false);
    await world.catchUp();
    await world.expectWhole();
  },
);

it('serves empty books of a partition without records', async () => {
  const world = new World(4, 40);
  await world.assign();
  await world.expectWhole();
});

it('serves books while a projector restarts', async () => {
  const world = new World(5, 60);
  world.grow(40);
  await world.catchUp();
  world.grow(20);
  const owner = await world.assign();
  expect(owner.at).toBe(40);
  world.refused = 0;
  while (owner.at < 60) {
    await world.look();
    await world.project(owner);
  }
  expect(world.refused).toBe(0);
});

it('restores removed books of quiet markets, cached or not', async () => {
  const world = new World(6, 60);
  world.grow(58);
  const owner = await world.catchUp();
  const projectOne = async (by: Owner) => {
    world.grow(1);
    return await world.project(by);
  };
  await world.removeBook(1, 1);
  await world.look();
  expect(world.refused).toBeGreaterThan(0);
  expect(await projectOne(owner)).toBe(true);
  await world.expectWhole();

  await world.removeBook(2, 0);
  expect(await projectOne(await world.assign())).toBe(false);
  await world.catchUp();
  await world.expectWhole();
});

it.each([1, 2, 3, 4, 5, 6])(
  'is never wrong after losses and deaths (history %i)',
  async (seed) => {
    const world = new World(seed, 120);
    while (!world.isAllWritten) {
      await world.happen();
      await world.look();
    }
    world.flushAfterWrites = Number.POSITIVE_INFINITY;
    await world.catchUp();
    expect(world.served).toBeGreaterThan(100);
    expect(world.refused).toBeGreaterThan(100);
    await world.expectWhole();
  },
  120_000,
);
