import { askEveryBytes, ReadWindow, unreadMaxBytes } from '../src/protocol/read-window.ts';

test('asks after so many bytes, and has room until too much is unread', () => {
  const window = new ReadWindow();
  expect(window.sent(askEveryBytes - 1)).toBeNull();
  const first = window.sent(1);
  expect(first).not.toBeNull();
  expect(window.sent(1)).toBeNull();
  window.sent(unreadMaxBytes - askEveryBytes - 2);
  expect(window.hasRoom).toBe(true);
  window.sent(1);
  expect(window.hasRoom).toBe(false);
  expect(window.read(first ?? Buffer.alloc(0))).toBe(true);
  expect(window.hasRoom).toBe(true);
});

test('whenever there is no room, a question is open', () => {
  for (const size of [1_000, askEveryBytes - 1, askEveryBytes + 1, 2 * unreadMaxBytes]) {
    const window = new ReadWindow();
    let last: Buffer | null = null;
    while (window.hasRoom) last = window.sent(size) ?? last;
    expect(window.read(last ?? Buffer.alloc(0))).toBe(true);
    expect(window.hasRoom).toBe(true);
  }
});

test('an answer to nothing, to what was read before, or to a later question counts for nothing', () => {
  const window = new ReadWindow();
  const [first, second] = [window.sent(askEveryBytes), window.sent(askEveryBytes)];
  const later = Buffer.alloc(6);
  later.writeUIntBE(2 * askEveryBytes + 1, 0, 6);
  expect(window.read(Buffer.alloc(0))).toBe(false);
  expect(window.read(Buffer.alloc(6))).toBe(false);
  expect(window.read(later)).toBe(false);
  expect(window.read(second ?? Buffer.alloc(0))).toBe(true);
  expect(window.read(first ?? Buffer.alloc(0))).toBe(false);
  expect(window.read(second ?? Buffer.alloc(0))).toBe(false);
});
