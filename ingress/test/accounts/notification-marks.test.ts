import { deletedNotificationsMax } from '@pm/schemas/http/notifications';
import { walletFromBytes } from '@pm/schemas/ids';
import type { NotificationMark } from '@pm/schemas/log/notifications';
import { DeletedNotifications } from '../../src/accounts/notification-marks.io.ts';

const bytes = Buffer.alloc(20, 1);
const wallet = walletFromBytes(bytes);
const entry = (deleted: readonly number[]): NotificationMark => ({
  wallet: bytes,
  deleted,
  changedAtMs: 1,
});

describe('deleted notifications', () => {
  test('are remembered once each, the newest last', () => {
    const marks = new DeletedNotifications();
    expect(marks.withDeleted(wallet, [3, 1, 3])).toEqual([3, 1]);
    marks.apply(entry([3, 1]));
    expect(marks.withDeleted(wallet, [2, 3])).toEqual([1, 2, 3]);
  });

  test('are bounded: the oldest go first', () => {
    const marks = new DeletedNotifications();
    const all = Array.from({ length: deletedNotificationsMax }, (_, index) => index);
    marks.apply(entry(all));
    const next = marks.withDeleted(wallet, [9_999]);
    expect(next).toHaveLength(deletedNotificationsMax);
    expect([next[0], next.at(-1)]).toEqual([1, 9_999]);
  });
});
