import {
  parseBooleanParam,
  parseIntegerParam,
  parseListParam,
} from '../../src/http/query-params.ts';

describe('query parameters', () => {
  test.each([
    [undefined, undefined],
    ['1', 1],
    ['100', 100],
    ['-5', -5],
    ['0', 0],
    ['101', null],
    ['-6', null],
    ['1.0', null],
    ['1e1', null],
    ['01', null],
    ['-0', null],
    ['+1', null],
    [' 1', null],
    ['0x1', null],
    ['', null],
    ['99999999999999999999', null],
    [['1', '2'], null],
    [['1'], null],
  ])('reads the integer %j from -5 to 100 as %j', (raw, value) => {
    expect(parseIntegerParam(raw, { min: -5, max: 100 })).toBe(value);
  });

  test.each([
    [undefined, undefined],
    ['true', true],
    ['TRUE', true],
    ['1', true],
    ['false', false],
    ['0', false],
    ['yes', null],
    ['', null],
    [['true', 'true'], null],
  ])('reads the boolean %j as %j', (raw, value) => {
    expect(parseBooleanParam(raw)).toBe(value);
  });

  test.each([
    [undefined, undefined],
    ['', []],
    ['a', ['a']],
    ['a,b', ['a', 'b']],
    [' a , ,b,', ['a', 'b']],
    [
      ['a,b', 'c'],
      ['a', 'b', 'c'],
    ],
    ['a,b,c,d', null],
    [['a', 'b', 'c', 'd'], null],
    ['toolong', null],
  ])('reads the list %j of at most 3 items of 5 characters as %j', (raw, value) => {
    expect(parseListParam(raw, { maxItems: 3, maxChars: 5 })).toEqual(value);
  });
});
