import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePorts } from '@pm/deploy/local/ports';
import { manyTimes } from '@pm/deploy/stack/services';
import { ExchangeUnderTest, order, place, until } from '../exchange-under-test.ts';
import { variablesOf } from '../services-under-test.ts';
import { ImageUnderTest } from './image-under-test.ts';

/**
 * Programs as containers run them: from the files of the image, with addresses and secrets in variables and mounted
 * folders, on a small exchange that has traded.
 */
const image = new ImageUnderTest();
let exchange: ExchangeUnderTest;
let variables: Readonly<Record<string, string>>;
const passphrase = 'correct horse battery staple';
const fileUrl = (...path: readonly string[]) => pathToFileURL(join(...path)).href;

beforeAll(async () => {
  const building = image.build();
  exchange = await ExchangeUnderTest.openLone('image', 2);
  const { folder, keys } = exchange;
  const store = fileUrl(folder, 'store');
  exchange.startProjectors(keys.ledgerSeed, {
    PM_VIEWS: 'books,tables,checkpoints',
    PM_STORE_URL: store,
    PM_CHECKPOINT_EVERY_MS: '1000',
    PM_BATCH_MS: '100',
  });
  const passphraseFile = join(folder, 'passphrase');
  writeFileSync(passphraseFile, `${passphrase}\n`);
  variables = {
    ...variablesOf(exchange.name),
    PM_DATA: folder,
    PM_STORE_URL: store,
    PM_BACKUP_PASSPHRASE_FILE: passphraseFile,
  };
  await trade();
  await until(async () => checkpoints(folder).length > 0);
  await building;
}, 240_000);

afterAll(async () => {
  await exchange?.close();
  image.remove();
}, 60_000);

async function trade(): Promise<void> {
  const [maker, taker] = [await exchange.openTrader('100'), await exchange.openTrader('100')];
  const token = exchange.tokens[0] ?? '';
  const other = exchange.otherTokens[0] ?? '';
  const orders = [
    [maker, order(maker, token, '0.40', { size: '20' })],
    [taker, order(taker, other, '0.60', { size: '12' })],
  ] as const;
  for (const [trader, one] of orders) {
    const { body } = await place(exchange.ingress, trader, [one]);
    expect(body.map(({ success }) => success)).toEqual([true]);
  }
}

function checkpoints(folder: string): readonly string[] {
  const ledger = join(folder, 'store/checkpoints/ledger');
  return existsSync(ledger) ? readdirSync(ledger) : [];
}

/** Runs a command. Its words are those of a container. */
async function tools(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const ended = await image.run(['tools', ...args], { ...variables, ...more });
  expect(`${ended.out}${ended.err}`).not.toMatch(/npm |bootstrap|stack -- up/);
  return ended;
}

test('the audit reads log, tables, books and ledger, and all of it adds up', async () => {
  const { code, out } = await tools(['audit']);
  expect(out).toMatch(/^ok {6}ledger \(C2\)/m);
  expect(out).toMatch(/^ok {6}fills \(P1\) +[1-9]\d* rows/m);
  expect([code, out.split('\n').filter((line) => line.startsWith('BROKEN'))]).toEqual([0, []]);
}, 180_000);

test('a backup is restored into an empty folder and another store, with the same keys', async () => {
  const { folder } = exchange;
  const backups = join(folder, 'backups');
  const made = await tools(['backup', '--to', backups]);
  expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^backup \w+ is complete/)]);
  const place = { PM_DATA: join(folder, 'new'), PM_STORE_URL: fileUrl(folder, 'new-store') };
  const restored = await tools(['restore', '--from', backups], place);
  expect(restored.out).toContain('then docker compose run --rm tools audit');
  expect(restored.code).toBe(0);
  for (const name of ['keys.json', 'authority.json', 'operators.json'])
    expect(readFileSync(join(place.PM_DATA, name))).toEqual(readFileSync(join(folder, name)));
  expect(readdirSync(join(folder, 'new-store/checkpoints/ledger'))).toHaveLength(1);
}, 60_000);

test('keys are listed as the log knows them, and one is rotated and handed on by set-up', async () => {
  const listed = await tools(['keys', 'list']);
  expect(listed.out).toMatch(/^ingress .* in use .*orders: listed in 2 of 2/m);
  expect(listed.code).toBe(0);
  const rotated = await tools(['keys', 'rotate', '--role', 'ledger']);
  expect(rotated.out).toContain('docker compose run --rm --no-deps setup-exchange');
  expect(rotated.out).toContain('docker compose run --rm tools keys retire --role ledger');
  expect(rotated.code).toBe(0);
}, 60_000);

test('operators are listed, added and removed in the mounted folder', async () => {
  const added = await tools(['operators', 'add', 'alice', '--roles', 'viewer']);
  expect([added.code, added.out]).toEqual([0, expect.stringMatching(/^[0-9a-f]{64}\n$/)]);
  expect(added.err).toContain('docker compose run --rm --no-deps setup-exchange');
  expect((await tools(['operators', 'list'])).out).toBe('local  admin\nalice  viewer\n');
  expect((await tools(['operators', 'remove', 'alice'])).code).toBe(0);
  expect((await tools(['operators', 'list'])).out).toBe('local  admin\n');
}, 60_000);

test('a dry repair finds no output missing', async () => {
  const { code, out } = await tools(['repair', '--dry-run']);
  expect([code, out]).toEqual([0, 'no output is missing\n']);
}, 60_000);

test('a rebuild that only compares folds the log to the served tables', async () => {
  const { code, out, err } = await tools(['rebuild', '--compare-only']);
  expect([code, out, err]).toEqual([0, expect.stringContaining('every table equals the log'), err]);
}, 120_000);

test('markets are listed and wallets bound at the listener that is named, with a token', async () => {
  const { folder, keys, operatorProcess } = exchange;
  const [events, wallets] = [join(folder, 'events.ndjson'), join(folder, 'wallets.csv')];
  const market = { slug: 'from-image', question: 'From the image?' };
  writeFileSync(events, `${JSON.stringify({ slug: 'image', title: 'I', markets: [market] })}\n`);
  writeFileSync(wallets, `wallet,owner\n0x${'a1'.repeat(20)},0x${'b2'.repeat(20)}\n`);
  const at = ['--url', `http://127.0.0.1:${operatorProcess.port}`];
  const token = { PM_OPERATOR_TOKEN: keys.operatorToken };
  const listed = await tools(['catalog', 'import', events, ...at], token);
  expect([listed.code, listed.err, listed.out]).toEqual([0, listed.err, expect.any(String)]);
  const bound = await tools(['wallets', 'bind', wallets, ...at], token);
  expect(bound.out).toBe('1 wallets: 1 bound, 0 unchanged, 0 refused\n');
}, 60_000);

test('accounts of the engines are written for the names of the installation', async () => {
  const { code, out } = await tools(['access', '--format', 'redis']);
  expect(code).toBe(0);
  expect(out).toContain(exchange.name);
});

test('an export says how to build the image with what reads its files back', async () => {
  const moment = '2026-06-01T00:00:00.000Z';
  const times = { from: moment, to: moment, writtenAt: moment };
  const manifest = { format: 1, day: '2026-06-01', ...times, database: exchange.name };
  const text = JSON.stringify({ ...manifest, completeness: [], tables: [], leftOut: [] });
  writeFileSync(join(exchange.folder, 'manifest.json'), text);
  const { code, err } = await tools(['export', '--verify', exchange.folder]);
  expect([code, err]).toEqual([1, expect.stringContaining('--build-arg EXPORT=on')]);
});

test('without binaries for its platform ingress takes orders all the same, and says so once', async () => {
  image.removeBinaries();
  const { keys } = exchange;
  const [{ ingress: port, ingressOps }, said] = [await freePorts(), [] as string[]];
  const child = image.start(['ingress'], {
    ...variablesOf(exchange.name),
    PM_HTTP_PORT: String(port),
    PM_OPS_PORT: String(ingressOps),
    PM_SIGNOFF_SEED: keys.ingressSeed,
    PM_KEY_SECRET: keys.keySecret,
    ...manyTimes,
  });
  child.stdout?.on('data', (bytes: Buffer) => said.push(bytes.toString('utf8')));
  try {
    const url = `http://127.0.0.1:${port}/ok`;
    await until(async () => (await fetch(url).catch(() => null))?.ok === true);
    const trader = await exchange.openTrader('100');
    const orders = [order(trader, exchange.tokens[1] ?? '', '0.30')];
    await until(async () => {
      const { body } = await place({ process: child, port }, trader, orders);
      return body[0]?.success === true;
    });
    const metrics = await (await fetch(`http://127.0.0.1:${ingressOps}/metrics`)).text();
    expect(metrics).toMatch(/^pm_ingress_native_crypto\{[^}]*package="secp256k1"[^}]*\} 0$/m);
    expect(said.join('').split('no binaries for this platform')).toHaveLength(2);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}, 120_000);

test('what is missing is named by its variable or folder', async () => {
  const withoutLog = { PM_KAFKA_BROKERS: '' };
  const expected: readonly (readonly [readonly string[], typeof variables, string])[] = [
    [['audit'], withoutLog, 'PM_KAFKA_BROKERS is not set'],
    [['rebuild'], withoutLog, 'PM_KAFKA_BROKERS is not set'],
    [['repair', '--dry-run'], withoutLog, 'PM_KAFKA_BROKERS is not set'],
    [['audit'], { PM_ROOT_KEY: '' }, 'PM_ROOT_KEY'],
    [['keys', 'list'], { PM_DATA: '/nowhere' }, '/nowhere/keys.json: mount the folder'],
    [['backup'], { PM_DATA: '/nowhere' }, '/nowhere/keys.json: mount the folder'],
    [['backup'], { PM_BACKUP_PASSPHRASE_FILE: '' }, 'PM_BACKUP_PASSPHRASE_FILE is not set'],
    [['catalog', 'import', 'x'], {}, 'set PM_OPERATOR_TOKEN'],
    [['audti'], {}, 'no command audti; commands: access, audit, backup'],
  ];
  const all = expected.map(async ([args, more, text]) => {
    const { code, err } = await tools(args, more);
    expect([args, code === 0, err]).toEqual([args, false, expect.stringContaining(text)]);
  });
  await Promise.all(all);
}, 60_000);
