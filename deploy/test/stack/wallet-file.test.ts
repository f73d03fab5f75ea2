import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BindWallets, BindWalletsResult } from '@pm/schemas/http/operator';
import { OperatorRefusal } from '../../src/stack/operator.ts';
import { bindWallets, linesOfFile, type WalletLine } from '../../src/stack/wallet-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'pm-wallets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const wallet = (number: number) => `0x${number.toString(16).padStart(40, 'a')}`;
const owner = `0x${'01'.repeat(20)}`;

function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

async function all(file: string): Promise<WalletLine[]> {
  const found: WalletLine[] = [];
  for await (const line of linesOfFile(file)) found.push(line);
  return found;
}

/** A listener that refuses what `refused` names. */
function operatorWith(refused: Readonly<Record<string, string>> = {}) {
  const pages: number[] = [];
  return {
    pages,
    async bindWallets(wallets: BindWallets['wallets']): Promise<BindWalletsResult> {
      pages.push(wallets.length);
      const results = wallets.map((item) => {
        const error = refused[item.wallet];
        if (error === undefined) return { ...item, result: 'bound' as const };
        return { ...item, result: 'taken' as const, error };
      });
      return { results };
    },
  };
}

const silent = { onPage: () => {}, onRefused: () => {} };

test('CSV with and without a header and lines of JSON give the same wallets', async () => {
  const bare = `${wallet(1)},${owner}\r\n\n${wallet(2)}, "${owner}"\n`;
  const expected = [
    { wallet: wallet(1), owner },
    { wallet: wallet(2), owner },
  ];
  const json = expected.map((one) => JSON.stringify(one)).join('\n');
  for (const [name, text] of [
    ['a.csv', bare],
    ['b.csv', `\uFEFFWallet, Owner\n${bare}`],
    ['c.ndjson', json],
  ] as const) {
    const found = await all(fileOf(name, text));
    expect(found.map(({ line: _line, ...rest }) => rest)).toEqual(expected);
  }
});

test('lines that are no wallet and owner are named by their number, and the others go on', async () => {
  const csv = fileOf(
    'bad.csv',
    `wallet,owner\n${wallet(1)}\n${wallet(2)},${owner}\n0x1,${owner}\n`,
  );
  const refused: [number, string][] = [];
  const operator = operatorWith();
  const onRefused = (line: number, reason: string) => refused.push([line, reason]);
  const totals = await bindWallets(operator, linesOfFile(csv), { ...silent, onRefused });
  expect(totals).toEqual({ bound: 1, already: 0, refused: 2 });
  expect(refused).toEqual([
    [2, 'is not a wallet and its owner'],
    [4, 'the wallet is no address'],
  ]);
  const json = fileOf('bad.ndjson', `{"wallet":\n5\n{"wallet":"${wallet(1)}","owner":7}\n`);
  expect(await all(json)).toEqual([
    { line: 1, problem: 'is not a wallet and its owner' },
    { line: 2, problem: 'is not a wallet and its owner' },
    { line: 3, problem: 'the owner is no address' },
  ]);
});

test('wallets are sent in pages, with the totals after each, and refusals by their line', async () => {
  const lines = Array.from({ length: 1_100 }, (_one, index) => `${wallet(index)},${owner}`);
  const operator = operatorWith({ [wallet(700)]: 'the wallet has another owner' });
  const totals: number[] = [];
  const refused: string[] = [];
  const done = await bindWallets(operator, linesOfFile(fileOf('many.csv', lines.join('\n'))), {
    onPage: (sofar) => totals.push(sofar.bound + sofar.refused),
    onRefused: (line, reason) => refused.push(`${line} ${reason}`),
  });
  expect(operator.pages).toEqual([500, 500, 100]);
  expect(totals).toEqual([500, 1_000, 1_100]);
  expect(done).toEqual({ bound: 1_099, already: 0, refused: 1 });
  expect(refused).toEqual([`701 ${wallet(700)}: the wallet has another owner`]);
});

test('a request that is refused as a whole ends the run', async () => {
  const operator = {
    bindWallets: async () => {
      throw new OperatorRefusal('http://operator answered 409', '{"error":"as many as can be"}');
    },
  };
  const file = fileOf('ends.csv', `${wallet(1)},${owner}`);
  await expect(bindWallets(operator, linesOfFile(file), silent)).rejects.toThrow('answered 409');
});
