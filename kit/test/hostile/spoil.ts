import type { Dice } from './dice.ts';
import { hostileNames, hostileValue } from './hostile-values.ts';

/** The value with one place changed: replaced, left out, doubled, renamed, or with something hostile beside it. */
export function spoil(value: unknown, dice: Dice): unknown {
  if (Array.isArray(value) && value.length > 0 && !dice.isOneIn(5)) return spoilArray(value, dice);
  if (typeof value === 'object' && value !== null && !dice.isOneIn(6)) {
    return spoilObject(value as Readonly<Record<string, unknown>>, dice);
  }
  return hostileValue(dice);
}

function spoilArray(items: readonly unknown[], dice: Dice): unknown[] {
  const at = dice.below(items.length);
  if (dice.isOneIn(6)) return items.filter((_item, index) => index !== at);
  if (dice.isOneIn(6)) return [...items, ...items];
  return items.map((item, index) => (index === at ? spoil(item, dice) : item));
}

function spoilObject(fields: Readonly<Record<string, unknown>>, dice: Dice): object {
  const names = Object.keys(fields);
  const kind = dice.below(6);
  if (names.length === 0 || kind === 0) return withField(fields, dice.pick(hostileNames), dice);
  const name = dice.pick(names);
  const { [name]: field, ...others } = fields;
  if (kind === 1) return others;
  if (kind === 2) return { ...others, [dice.pick(hostileNames)]: field };
  return { ...fields, [name]: spoil(field, dice) };
}

/** `__proto__` becomes a field of its own, as JSON would write it. */
function withField(fields: object, name: string, dice: Dice): object {
  return Object.fromEntries([...Object.entries(fields), [name, hostileValue(dice)]]);
}

const splinters = [
  ...[
    '\\u0000',
    '\\ud800',
    '1e400',
    '-0',
    '9'.repeat(400),
    '"',
    '{}',
    '[',
    ']',
    'true',
    'null',
    ',',
  ],
  ...['1E-7', '0x1', '//', '/**/', '\u2028', '\ufeff', '"__proto__":{"x":1},', '"a":1,"a":2,'],
];

/** The bytes of a body, broken as text: cut, spliced, doubled, repeated keys, other encodings, depth, size. */
export function spoilBytes(json: string, dice: Dice): Buffer {
  const at = dice.below(json.length + 1);
  const spliced = json.slice(0, at) + dice.pick(splinters) + json.slice(at + dice.below(3));
  const forms: readonly (() => Buffer)[] = [
    () => Buffer.from(spliced),
    () => Buffer.from(spliced),
    () => Buffer.from(json.slice(0, at)),
    () => Buffer.from(json + json),
    () => Buffer.from(repeatKey(json, dice)),
    () => Buffer.from(json.replace(/"(\d+)"/, '$1')),
    () => Buffer.from(json.replace(/:"?(\d+)"?/, ':$1e2')),
    () => Buffer.from(`\ufeff${json}`),
    () => Buffer.from(json, 'utf16le'),
    () => Buffer.concat([Buffer.from(json), Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28])]),
    () => deepBytes(dice),
    () => (dice.isOneIn(8) ? Buffer.from(`{"x":"${'y'.repeat(300_000)}"}`) : Buffer.from('{')),
  ];
  return dice.pick(forms)();
}

/** A field of an object once more in front, with another value. */
function repeatKey(json: string, dice: Dice): string {
  const keys = [...json.matchAll(/"\w+":/g)];
  if (keys.length === 0) return json;
  const key = dice.pick(keys);
  const value = JSON.stringify(hostileValue(dice, 1));
  return `${json.slice(0, key.index)}${key[0]}${value},${json.slice(key.index)}`;
}

function deepBytes(dice: Dice): Buffer {
  const depth = dice.pick([7, 8, 9, 50, 5_000]);
  const [open, close] = dice.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const);
  return Buffer.from(`${open.repeat(depth)}1${close.repeat(depth)}`);
}
