import { isPure, problemsOf } from '../src/source-rules.ts';

/** Messages of the rules about one line in a pure file. */
function said(text: string, path = 'kit/src/fold.ts'): readonly string[] {
  return problemsOf(path, text).map(({ message }) => message);
}

describe('a pure file', () => {
  const impure = [
    ['const f = async () => 1;', 'async function'],
    ['async function f() {}', 'async function'],
    ['const o = { async f() {} };', 'async function'],
    ['class A { async f() {} }', 'async function'],
    ['export async function* f() { for await (const x of y) g(x); }', 'await'],
    ['export type Read = () => Promise<void>;', 'Promise'],
    ['export const all = Promise.all([]);', 'Promise'],
    ['const at = Date.now();', 'Date.now'],
    ['class A { f() { return Date.now(); } }', 'Date.now'],
    ['const at = performance.now();', 'performance.now'],
    ['const at = new Date();', 'clock (Date without an argument)'],
    ['class A { #at = new Date(); }', 'clock (Date without an argument)'],
    ['const x = Math.random();', 'Math.random'],
    ['const clock = Date.now;', 'Date.now'],
    ["import { randomBytes } from 'node:crypto';", 'randomBytes'],
    ["import { randomUUID as id } from 'node:crypto';", 'randomUUID'],
    ['const id = crypto.randomUUID();', 'crypto.randomUUID'],
    ['setTimeout(f, 1);', 'setTimeout'],
    ['const wait = setImmediate;', 'setImmediate'],
    ['export const home = process.env;', 'process'],
  ] as const;

  test.each(impure)('refuses %s', (text, thing) => {
    expect(said(text)).toContain(`a pure file has no ${thing}`);
  });

  const pure = [
    'const at = new Date(0).toISOString();',
    'for (const x of y) g(x);',
    'const o = { Promise: 1, process: 2, setTimeout: 3 };',
    'export const now = clock.now();',
    'function f(process: (x: number) => number) { return process(1); }',
    "import { createHash } from 'node:crypto';",
    'export const passes = options.fetch;',
    '// await Date.now()\nexport const text = "Promise";',
  ];

  test.each(pure)('takes %s', (text) => {
    expect(said(text)).toEqual([]);
  });

  test.each([
    ['kit/src/kafka/reader.io.ts', false],
    ['ingress/src/orders/place.route.ts', false],
    ['ingress/src/main.ts', false],
    ['operator/src/main.ts', false],
    ['ingress/src/orders/config.ts', true],
    ['kit/src/log/index.ts', true],
    ['kit/test/log/log.test.ts', false],
  ])('%s is pure: %s', (path, expected) => {
    expect(isPure(path)).toBe(expected);
    expect(said('const at = Date.now();', path).length).toBe(expected ? 1 : 0);
  });
});

describe('state of a module', () => {
  const state = [
    ['let count = 0;', 'no variable outside of functions'],
    ['export var count = 0;', 'no variable outside of functions'],
    ['const seen = new Set(); export const f = (x) => seen.add(x);', 'seen is state of the module'],
    ['const seen = new Map(); function f(x) { seen.set(x, 1); }', 'seen is state of the module'],
    ['const rows = []; function f(x) { rows.push(x); }', 'rows is state of the module'],
    ['const rows = []; function f(x) { rows[0] = x; }', 'rows is state of the module'],
    ['const last = {}; function f(x) { last.at = x; }', 'last is state of the module'],
    ['const last = { n: 0 }; function f() { last.n++; }', 'last is state of the module'],
    ['const head = Buffer.alloc(8); f(head);', 'head is state of the module'],
    ['const head = Buffer.alloc(8); head.writeUInt8(1);', 'head is state of the module'],
    ['const word = new Uint8Array(8); f(word);', 'word is state of the module'],
  ] as const;

  test.each(state)('refuses %s, also in io files', (text, message) => {
    expect(said(text)).toContain(message);
    expect(said(text, 'kit/src/kafka/reader.io.ts')).toContain(message);
  });

  const constants = [
    'const names = new Set(["a"]); export const has = (x) => names.has(x);',
    'const zeros = Buffer.alloc(8); export const empty = { zeros };',
    'const none = Buffer.alloc(0); f(none);',
    'function f() { let count = 0; count += 1; return count; }',
    'const sorted = [...rows].sort();',
  ];

  test.each(constants)('takes %s', (text) => {
    expect(said(text)).toEqual([]);
  });

  test('is no matter in tests', () => {
    expect(said('let count = 0;', 'kit/test/log/log.test.ts')).toEqual([]);
  });
});

describe('style', () => {
  test.each([
    ['const MAX_ROWS = 1;', 'MAX_ROWS is written in camelCase'],
    ['function f() { const QUOTE = 1; return QUOTE; }', 'QUOTE is written in camelCase'],
    ['const o = { ...{ a, b }, c };', 'the fields of a spread object are written out'],
  ])('refuses %s', (text, message) => {
    expect(said(text)).toContain(message);
  });

  test('takes names of other packages and single letters', () => {
    expect(said('const { GROUP_JOIN } = consumer.events; const N = 1;')).toEqual([]);
  });

  test('refuses lines beyond 120 characters in code, comments and documents', () => {
    const long = `${'word '.repeat(24)}word`;
    expect(problemsOf('kit/src/fold.ts', `// first\n// ${long}`)).toEqual([
      { line: 2, message: '127 characters, 120 at most' },
    ]);
    expect(said(long, 'kit/README.md')).toEqual(['124 characters, 120 at most']);
  });

  test('takes rows of tables and addresses that cannot be broken', () => {
    expect(said(`| ${'word '.repeat(30)} |`, 'kit/README.md')).toEqual([]);
    expect(said(`See https://${'a'.repeat(120)}`, 'kit/README.md')).toEqual([]);
  });

  test('names the line of a problem, also after text of several bytes', () => {
    expect(problemsOf('kit/src/fold.ts', '// ü\n/* → */\nconst at = Date.now();')).toEqual([
      { line: 3, message: 'a pure file has no Date.now' },
    ]);
  });
});

describe('words', () => {
  const entry = 'DOOR'.toLowerCase();

  test.each([
    `const ${entry} = 1;`,
    `open${entry.replace('d', 'D')}Limiter();`,
    `// Behind the ${entry}s.`,
    'export interface OrderVerd'.concat('ict {}'),
    'export const PriceAns'.concat('wer = 1;'),
  ])('"%s" has one for which the field has another', (text) => {
    expect(said(text, 'kit/src/fold.io.ts').join()).toContain(': say ');
  });

  test.each(['/** What it holds. */', '// Those of a wallet.', '/**\n * The same in hex.\n */'])(
    'a comment that begins like "%s" does not name its subject',
    (text) => {
      expect(said(text, 'kit/src/fold.io.ts').join()).toContain('begins with its subject');
    },
  );

  test.each(['const indoors = 1;', 'const answer = 1;', 'type Answers = 1;', 'type Answer = 1;'])(
    '"%s" has none',
    (text) => {
      expect(said(text, 'kit/src/fold.io.ts')).toEqual([]);
    },
  );
});
