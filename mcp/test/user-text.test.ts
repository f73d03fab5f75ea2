import { userText } from '../src/server/user-text.ts';

const isKept = (point: number): boolean => {
  const character = String.fromCodePoint(point);
  return userText(`a${character}b`) === `a${character}b`;
};

function* allCodePoints(): Generator<number> {
  for (let point = 0; point <= 0x10ffff; point += 1)
    if (point < 0xd800 || point > 0xdfff) yield point;
}

/** Blank or formatting, without the property. */
const others = new Set([0x2028, 0x2029, 0x2800, 0xfff9, 0xfffa, 0xfffb, 0x1d159]);
for (let point = 0x13430; point <= 0x1343f; point += 1) others.add(point);

test('of all of Unicode, what a display may ignore, controls and blanks are left out, and nothing else', () => {
  const wrong: string[] = [];
  for (const point of allCodePoints()) {
    const character = String.fromCodePoint(point);
    const isControl = /\p{Cc}/u.test(character) && point !== 0x9 && point !== 0xa;
    const isIgnorable = /\p{Default_Ignorable_Code_Point}/u.test(character);
    if (isKept(point) === (isControl || isIgnorable || others.has(point)))
      wrong.push(point.toString(16));
  }
  expect(wrong).toEqual([]);
});

test.each([
  ['a soft hyphen, a joiner and fillers', [0xad, 0x34f, 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800]],
  ['variation selectors', [0x180b, 0x180c, 0x180d, 0x180f, 0xfe00, 0xfe0f, 0xe0100, 0xe01ef]],
  ['marks of direction and zero width', [0x200b, 0x200d, 0x200f, 0x202e, 0x2066, 0x2069, 0xfeff]],
  ['tags', [0xe0001, 0xe0041, 0xe007f]],
])('%s are left out', (_what, points) => {
  expect(points.filter(isKept)).toEqual([]);
});

test('letters with marks, emoji and lines of all scripts are kept', () => {
  const text = 'é ü नमस्ते\tقيمة\nไทย 한국어 日本語 \u{1f600} ❤';
  expect(userText(text)).toBe(text);
});

test('a long text is cut by code points, after what is not seen', () => {
  expect(userText(`${'\u3164'.repeat(9)}${'\u{1f600}'.repeat(5)}`, 4)).toBe(
    `${'\u{1f600}'.repeat(3)}…`,
  );
});
