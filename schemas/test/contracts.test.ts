import { microText, parseBaseUnits, parseMicro, parsePrice, priceText } from '@pm/schemas/decimal';
import {
  apiKeyBytes,
  apiKeyFromBytes,
  checksumAddress,
  parseApiKeyId,
  parseAsset,
  parseConditionId,
  parseTokenId,
  parseWalletAddress,
  tokenIdBytes,
  tokenIdFromBytes,
} from '@pm/schemas/ids';
import { topics } from '@pm/schemas/log/topics';
import { readRefusalCodes, readRefusals, readRefusalText } from '@pm/schemas/read-refusals';
import { refusalCodes, refusals, refusalText } from '@pm/schemas/refusals';
import { type HttpRoute, urlsOf } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import { createTableSql } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import fc from 'fast-check';

test('every column of every table has a comment, and the DDL carries it', () => {
  for (const table of Object.values(tables)) {
    const sql = createTableSql(table, 'pm');
    for (const column of table.columns) {
      expect(column.comment.length).toBeGreaterThan(2);
      expect(sql).toContain(`\`${column.name}\` ${column.type} COMMENT '`);
    }
    expect(sql).toContain('non_replicated_deduplication_window = 1000');
  }
});

test('a refusal that the matcher remembers cannot be cured by waiting', () => {
  for (const code of refusalCodes) {
    const refusal = refusals[code];
    expect(refusal.final === true && refusal.retry).toBe(false);
    expect(refusal.status).toBeGreaterThanOrEqual(400);
  }
});

test('a refusal of a read has no code of the log, and a text of its own', () => {
  const texts = readRefusalCodes.map((code) => readRefusals[code].text);
  expect(new Set(texts).size).toBe(texts.length);
  expect(readRefusalCodes.filter((code) => code in refusals)).toEqual([]);
  expect(readRefusalText('invalid_field', { name: 'limit' })).toBe('invalid_field: limit');
});

test('the text of a refusal names its facts', () => {
  expect(refusalText('invalid_size', { id: '0x1', size: 1, min: 5 })).toBe(
    'order 0x1 is invalid. Size (1) lower than the minimum: 5',
  );
});

test('no two routes share method and path, also under their mounts', () => {
  const keys = routes.flatMap((route) => urlsOf(route).map(({ url }) => `${route.method} ${url}`));
  expect(new Set(keys).size).toBe(keys.length);
});

test('a route is served at the root and under its mounts', () => {
  const route = { method: 'GET', path: '/a', service: 'query-api', family: 'gamma' } as const;
  const urls = (more: Partial<HttpRoute>) =>
    urlsOf({ ...route, ...more }).map(({ url, mount }) => `${url} ${mount}`);
  expect(urls({})).toEqual(['/a null', '/gamma/a gamma']);
  expect(urls({ mounts: ['clob', 'data'], atRoot: false })).toEqual([
    '/clob/a clob',
    '/data-api/a data',
  ]);
  expect(urls({ path: '/' })).toEqual(['/ null', '/gamma/ gamma']);
});

test('topics have distinct names, and matching topics go side by side', () => {
  const names = Object.values(topics).map((topic) => topic.name);
  expect(new Set(names).size).toBe(names.length);
  expect(topics.orders.partitions).toBe(topics.executions.partitions);
});

test('approvals are never compacted: a challenge counts whatever follows it, compaction keeps the newest', () => {
  expect(topics.approvals).toMatchObject({ partitions: 'single', compacted: false });
});

test('owners of wallets are never compacted: the first record counts, compaction keeps the newest', () => {
  expect(topics.walletOwners).toMatchObject({ partitions: 'single', compacted: false });
});

test('ids come back from their bytes', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }), fc.uuid(), (number, uuid) => {
      const token = parseTokenId(number.toString());
      const key = parseApiKeyId(uuid.toUpperCase());
      if (token === null || key === null) throw new Error('these are ids');
      expect(tokenIdFromBytes(tokenIdBytes(token))).toBe(token);
      expect(apiKeyFromBytes(apiKeyBytes(key))).toBe(key);
    }),
  );
});

test.each([['', '0x12', `0x${'g'.repeat(64)}`, `0x${'1'.repeat(63)}`, ` 0x${'1'.repeat(64)}`]])(
  'what is no condition id is refused',
  (...texts) => {
    for (const text of texts) expect(parseConditionId(text)).toBeNull();
  },
);

test.each(['01', '-1', '1e3', '0x1', '', ' 1', (1n << 256n).toString()])(
  '%s is no token id',
  (text) => {
    expect(parseTokenId(text)).toBeNull();
  },
);

test('an asset is named by its token or by condition and index', () => {
  const condition = `0x${'Ab'.repeat(32)}`;
  expect(parseAsset('17')).toEqual({ token: '17' });
  for (const outcome of [0, 1]) {
    const named = { condition: condition.toLowerCase(), outcome };
    expect(parseAsset(`${condition}:${outcome}`)).toEqual(named);
  }
  for (const text of ['', '01', condition, `${condition}:`, `${condition}:2`, `${condition}:01`]) {
    expect(parseAsset(text)).toBeNull();
  }
});

test('addresses are shown as EIP-55 has them', () => {
  for (const text of [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ]) {
    const wallet = parseWalletAddress(text);
    expect(wallet === null ? null : checksumAddress(wallet)).toBe(text);
  }
});

test('decimals come back from their text', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 10 ** 15 }),
      fc.integer({ min: 0, max: 10_000 }),
      (micro, price) => {
        expect(parseMicro(microText(micro))).toBe(micro);
        expect(parsePrice(priceText(price))).toBe(price);
        expect(parseBaseUnits(String(micro))).toBe(micro);
      },
    ),
  );
});

test.each(['1e3', '.5', '1.', '01', '+1', '-1', '1.1234567', ' 1', 'NaN', '9'.repeat(20)])(
  '%s is no amount',
  (text) => {
    expect(parseMicro(text)).toBeNull();
  },
);
