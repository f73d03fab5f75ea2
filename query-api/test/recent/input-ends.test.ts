import { InputEnds } from '../../src/recent/input-ends.io.ts';

const partition = 3;

/** A broker whose input of the partition has so many records. */
function broker() {
  const state = { high: 5, isAway: false, requested: 0 };
  const bounds = async () => {
    state.requested += 1;
    if (state.isAway) throw new Error('no connection');
    return new Map([[partition, { low: 0, high: state.high }]]);
  };
  return { state, ends: new InputEnds({ bounds }, 'orders') };
}

describe('the ends of the input', () => {
  it('are read only for offsets beyond the known ones', async () => {
    const { state, ends } = broker();
    expect(await ends.hasCome(partition, 4)).toBe(true);
    expect(await ends.hasCome(partition, 0)).toBe(true);
    expect(state.requested).toBe(1);
    expect(await ends.hasCome(partition, 5)).toBe(false);
    state.high = 6;
    expect(await ends.hasCome(partition, 5)).toBe(true);
    expect(state.requested).toBe(3);
    expect(await ends.hasCome(4, 0)).toBe(false);
  });

  it('are a fault that passes while the broker is away', async () => {
    const { state, ends } = broker();
    state.isAway = true;
    await expect(ends.hasCome(partition, 0)).rejects.toMatchObject({
      code: 'log_unavailable',
      reaction: 'retry',
    });
    state.isAway = false;
    expect(await ends.hasCome(partition, 0)).toBe(true);
  });
});
