import {
  cursorOf,
  cursorOffsetMax,
  endCursor,
  pageOf,
  parseCursor,
} from '../../src/reading/paging.ts';

describe('cursors', () => {
  it.each([
    [null, 0],
    ['', 0],
    ['MA==', 0],
    ['MTAw', 100],
    ['LTE=', -1],
    ['NTAw', 500],
    ['MTAwMDAwMA==', cursorOffsetMax],
    ['MTAwMDAwMQ==', -1],
    ['MTAwMDAwMDA=', -1],
    [Buffer.from('9'.repeat(60)).toString('base64'), -1],
  ])('reads %p as %p', (text, offset) => {
    expect(parseCursor(text)).toBe(offset);
  });

  it.each(['x', '%%%%', 'LTI=', 'MDE=', 'MS41', 'AAAA', 'MA==MA==', 'ICA=', 'e30='])(
    'refuses %p',
    (text) => {
      expect(parseCursor(text)).toBeNull();
    },
  );

  it('writes what it reads', () => {
    for (const offset of [0, 1, 99, 100, 500, 12_345, cursorOffsetMax]) {
      expect(parseCursor(cursorOf(offset))).toBe(offset);
    }
    expect(cursorOf(0)).toBe('MA==');
    expect(parseCursor(endCursor)).toBe(-1);
  });

  it('ends the last page with LTE= and the others with the next offset', () => {
    expect(pageOf([1, 2, 3], 4, 2)).toEqual({
      data: [1, 2],
      next_cursor: cursorOf(6),
      limit: 2,
      count: 2,
    });
    expect(pageOf([1, 2], 4, 2)).toMatchObject({ data: [1, 2], next_cursor: 'LTE=' });
    expect(pageOf([], 0, 2)).toMatchObject({ next_cursor: 'LTE=', count: 0 });
  });
});
