import { ClaimPolicy, type ClaimView } from '../../src/partition/claim-policy.ts';

const rules = { silenceMs: 300, settleMs: 10_000, blockedMs: 1_000 };

const view = (nowMs: number, more: Partial<ClaimView> = {}): ClaimView => ({
  nowMs,
  readThroughMs: nowMs,
  ownership: 'elsewhere',
  isPreferred: false,
  blockedSinceMs: Number.POSITIVE_INFINITY,
  unstoredSinceMs: Number.POSITIVE_INFINITY,
  ...more,
});

describe('a replica claims its partition', () => {
  test('when the owner is silent by a fetch that began after the silence', () => {
    const policy = new ClaimPolicy(rules, 0, 0);
    policy.heard(1_000);
    expect(policy.isDue(view(1_299))).toBe(false);
    expect(policy.isDue(view(9_000, { readThroughMs: 1_299 }))).toBe(false);
    expect(policy.isDue(view(9_000, { readThroughMs: Number.NEGATIVE_INFINITY }))).toBe(false);
    expect(policy.isDue(view(1_300))).toBe(true);
  });

  test('never its own', () => {
    const policy = new ClaimPolicy(rules, 0, 0);
    expect(policy.isDue(view(60_000, { ownership: 'here', isPreferred: true }))).toBe(false);
  });

  test('again only when a claim has been lost', () => {
    const policy = new ClaimPolicy(rules, 0, 0);
    policy.sent(1_000);
    expect(policy.isDue(view(1_299))).toBe(false);
    expect(policy.isDue(view(1_300))).toBe(true);
  });

  test('at once when it belongs to none and is placed here first', () => {
    const policy = new ClaimPolicy(rules, 1_000, 0);
    const free = { ownership: 'none', isPreferred: true } as const;
    expect(policy.isDue(view(1_010, free))).toBe(true);
    expect(policy.isDue(view(1_010, { ...free, isPreferred: false }))).toBe(false);
    expect(policy.isDue(view(1_300, { ...free, isPreferred: false }))).toBe(true);
  });

  test('at once when its owner has resigned, wherever it is placed', () => {
    const policy = new ClaimPolicy(rules, 1_000, 0);
    policy.changed(5_000);
    const resigned = { ownership: 'resigned' } as const;
    expect(policy.isDue(view(5_001, resigned))).toBe(true);
  });

  test('from a living owner when it is placed here first and nothing has changed for a while', () => {
    const policy = new ClaimPolicy(rules, 1_000, 0);
    const heard = (nowMs: number, isPreferred: boolean) => {
      policy.heard(nowMs - 50);
      return policy.isDue(view(nowMs, { isPreferred }));
    };
    expect(heard(10_999, true)).toBe(false);
    expect(heard(11_000, false)).toBe(false);
    expect(heard(11_000, true)).toBe(true);
    policy.changed(12_000);
    expect(heard(21_999, true)).toBe(false);
    expect(heard(22_000, true)).toBe(true);
  });

  test('when it has had no room for a long time, though it has not read all', () => {
    const policy = new ClaimPolicy(rules, 0, 0);
    const blocked = { readThroughMs: Number.NEGATIVE_INFINITY, blockedSinceMs: 1_000 };
    expect(policy.isDue(view(1_999, blocked))).toBe(false);
    expect(policy.isDue(view(2_000, blocked))).toBe(true);
  });

  test('when its owner ticks, and stores nothing though outputs wait, as far as all is read', () => {
    const policy = new ClaimPolicy(rules, 0, 0);
    const due = (nowMs: number, more: Partial<ClaimView> = {}) =>
      policy.isDueIfUnstored(view(nowMs, { unstoredSinceMs: 1_000, ...more }));
    expect([due(3_499), due(3_500)]).toEqual([false, true]);
    expect(due(9_000, { readThroughMs: 3_499 })).toBe(false);
    expect(due(9_000, { unstoredSinceMs: Number.POSITIVE_INFINITY })).toBe(false);
    expect(due(9_000, { ownership: 'here' })).toBe(false);
  });

  test('later when the owner before stored nothing either: the log may be the reason', () => {
    const policy = new ClaimPolicy(rules, 0, 0);
    policy.changed(2_000);
    const due = (nowMs: number) => policy.isDueIfUnstored(view(nowMs, { unstoredSinceMs: 1_000 }));
    expect([due(11_999), due(12_000)]).toEqual([false, true]);
    policy.stored();
    expect([due(4_499), due(4_500)]).toEqual([false, true]);
  });

  test('sooner after a restart, by as much as the clock of the partition is behind', () => {
    expect(new ClaimPolicy(rules, 1_000, 250).isDue(view(1_050))).toBe(true);
    expect(new ClaimPolicy(rules, 1_000, 250).isDue(view(1_049))).toBe(false);
    expect(new ClaimPolicy(rules, 1_000, 9e9).isDue(view(1_000))).toBe(true);
    expect(new ClaimPolicy(rules, 1_000, -9e9).isDue(view(1_299))).toBe(false);
  });
});
