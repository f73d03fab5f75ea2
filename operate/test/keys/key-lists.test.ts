import { randomBytes } from 'node:crypto';
import { publicKeyOf } from '@pm/deploy/setup/keys';
import { Engine } from '@pm/matcher/core';
import { newestRules } from '@pm/schemas/log/log-rules';
import type { Command, Envelope } from '@pm/schemas/log/orders';
import type { KeyRole } from '@pm/schemas/log/types';
import { idOf, PartitionKeys, ServiceKeyList, withoutUnopened } from '../../src/keys/key-lists.ts';
import { ownKeys, shownKeys } from '../../src/keys/shown-keys.ts';

const seedOf = (byte: number) => Buffer.alloc(32, byte).toString('hex');
const publicKeys = Array.from({ length: 10 }, (_, byte) =>
  Buffer.from(publicKeyOf(seedOf(byte)), 'hex'),
);
const keyOf = (byte: number) => publicKeys[byte] ?? Buffer.alloc(0);
const operator = keyOf(1);
const opening = {
  kind: 'OpenPartition',
  partition: 0,
  operatorKey: operator,
  feeWallet: Buffer.alloc(20, 1),
  bookAgeLimitMs: 1,
  orderAgeLimitMs: 1,
  timeMs: 0,
} as const;
const newRules = { kind: 'SetRules', version: newestRules } as const;

function setKey(byte: number, role: KeyRole = 'INGRESS', active = true): Command {
  return { kind: 'SetKey', publicKey: keyOf(byte), role, active };
}

/** The fold of envelopes of the opening key; each has its place as its sequence and offset. */
function folded(
  batches: readonly (readonly Command[])[],
  more: {
    readonly sequence?: number;
    readonly partition?: number;
    readonly isSigned?: boolean;
  } = {},
) {
  const keys = new PartitionKeys(0, operator);
  for (const [offset, commands] of batches.entries()) {
    const isLast = offset === batches.length - 1;
    const { sequence, partition = 0, isSigned = true } = isLast ? more : {};
    keys.take({
      envelope: envelopeOf(commands, sequence ?? offset, partition),
      offset,
      timestampMs: offset * 1_000,
      isSigned: () => isSigned,
    });
  }
  return keys.byId;
}

function envelopeOf(commands: readonly Command[], sequence: number, partition = 0): Envelope {
  const keyId = Buffer.from(idOf(operator), 'hex');
  return { signature: Buffer.alloc(64), keyId, partition, sequence, commands: [...commands] };
}

const stateOf = (keys: ReturnType<typeof folded>, byte: number) =>
  keys.get(idOf(keyOf(byte)))?.active ?? null;

describe('the keys of a partition', () => {
  test('are those of the opening and of later records, with the first time and the newest state', () => {
    const keys = folded([
      [opening, newRules, setKey(2)],
      [setKey(3, 'OWNER')],
      [setKey(2, 'INGRESS', false)],
    ]);
    expect([...keys.keys()].sort()).toEqual([operator, keyOf(2), keyOf(3)].map(idOf).sort());
    expect(keys.get(idOf(keyOf(2)))).toMatchObject({ active: false, sinceMs: 0, offset: 2 });
    expect(keys.get(idOf(keyOf(3)))).toMatchObject({ active: true, role: 'OWNER', sinceMs: 1_000 });
  });

  test.each([
    ['that nothing opened', [[setKey(2)]], {}],
    ['that another key opened', [[{ ...opening, operatorKey: keyOf(9) }, setKey(2)]], {}],
    ['of a forged record', [[opening], [setKey(2)]], { isSigned: false }],
    ['of a record of another partition', [[opening], [setKey(2)]], { partition: 1 }],
    ['of a record that was appended again', [[opening, newRules], [setKey(2)]], { sequence: 0 }],
    ['of a record with a command of another role', [[opening], [setKey(2), tick()]], {}],
    ['of an operator before the rules allow it', [[opening], [setKey(2, 'OPERATOR')]], {}],
  ] as const)('do not have a key %s', (_, batches, more) => {
    expect(stateOf(folded(batches, more), 2)).toBeNull();
  });

  test('are those that the matcher has, over any records of the opening key', () => {
    for (let round = 0; round < 10; round += 1) {
      const engine = new Engine(0);
      const batches: Command[][] = [[opening, newRules, setKey(2)]];
      for (let count = 0; count < 100; count += 1) batches.push([randomCommand(), randomCommand()]);
      for (const [offset, commands] of batches.entries())
        engine.apply(envelopeOf(commands, offset), offset);
      const keys = folded(batches);
      for (let byte = 1; byte < 8; byte += 1) {
        const known = engine.signOffKey(Buffer.from(idOf(keyOf(byte)), 'hex'));
        expect(stateOf(keys, byte)).toBe(known?.active ?? null);
        expect(keys.get(idOf(keyOf(byte)))?.role).toBe(known?.role);
      }
    }
  });
});

function tick(): Command {
  return { kind: 'Tick', term: 0, timeMs: 1 };
}

function randomCommand(): Command {
  const [byte = 0, role = 0, active = 0] = randomBytes(3);
  const roles = ['INGRESS', 'OWNER', 'LEDGER', 'OPERATOR'] as const;
  return setKey(1 + (byte % 7), roles[role % 4], active % 2 === 0);
}

test('a partition is left out when it is not opened, and stays when its keys are known no more', () => {
  const keys = folded([[opening]]);
  const none = new Map();
  const found = new Map([
    [0, keys],
    [1, none],
    [2, none],
    [3, keys],
  ]);
  expect([...withoutUnopened(found, [0, 1]).keys()]).toEqual([0, 1, 3]);
  expect([...withoutUnopened(found, []).keys()]).toEqual([0, 1, 2, 3]);
});

test('a key that is retired on service-keys is never listed again', () => {
  const list = new ServiceKeyList();
  const listing = { kind: 'ServiceKeyListed', publicKey: keyOf(2), role: 'INGRESS' } as const;
  list.take({ kind: 'ServiceKeyRetired', publicKey: keyOf(2), ends: [] }, at(0));
  expect(list.byId.size).toBe(0);
  list.take(listing, at(1));
  list.take({ kind: 'ServiceKeyRetired', publicKey: keyOf(2), ends: [] }, at(2));
  list.take(listing, at(3));
  expect([...list.byId.values()]).toMatchObject([{ active: false, sinceMs: 1_000, offset: 2 }]);
});

const at = (offset: number) => ({ offset, timestampMs: offset * 1_000 });

test('a line names the use of a key and marks one that only one list has', () => {
  const keys = {
    ...Object.fromEntries(
      ['rootKey', 'keySecret', 'bookSecret', 'operatorToken'].map((name) => [name, seedOf(99)]),
    ),
    openingKey: publicKeyOf(seedOf(1)),
    operatorSeed: seedOf(8),
    ingressSeed: seedOf(2),
    ownerSeed: seedOf(3),
    ledgerSeed: seedOf(4),
    nextSeeds: { OWNER: seedOf(5) },
    formerKeys: [{ role: 'INGRESS', publicKey: publicKeyOf(seedOf(6)) }],
  } as unknown as Parameters<typeof ownKeys>[0];
  const listed = (byte: number, role: KeyRole, active = true) =>
    [
      idOf(keyOf(byte)),
      { publicKey: keyOf(byte), role, active, sinceMs: byte, offset: 0 },
    ] as const;
  const both = [
    listed(1, 'OPERATOR'),
    listed(8, 'OPERATOR'),
    listed(2, 'INGRESS'),
    listed(6, 'INGRESS', false),
  ];
  const lists = {
    partitions: new Map([
      [0, new Map([...both, listed(3, 'OWNER')])],
      [1, new Map([...both])],
    ]),
    services: new Map([...both, listed(7, 'LEDGER')]),
  };
  const time = (ms: number) => `1970-01-01T00:00:00.00${ms}Z`;
  expect(shownKeys(lists, ownKeys(keys))).toEqual([
    `ingress   ${idOf(keyOf(2))}  in use  ${time(2)}  orders: listed in 2 of 2  service-keys: listed`,
    `ingress   ${idOf(keyOf(6))}  former  ${time(6)}  orders: retired in 2 of 2  service-keys: retired`,
    `ledger    ${idOf(keyOf(7))}          ${time(7)}  orders: missing  service-keys: listed  ONLY IN service-keys`,
    `ledger    ${idOf(keyOf(4))}  in use  never listed  orders: missing  service-keys: missing`,
    `opening   ${idOf(keyOf(1))}  in use  ${time(1)}  orders: listed in 2 of 2  service-keys: listed  SEALS ON service-keys`,
    `operator  ${idOf(keyOf(8))}  in use  ${time(8)}  orders: listed in 2 of 2  service-keys: listed`,
    `owner     ${idOf(keyOf(3))}  in use  ${time(3)}  orders: listed in 1 of 2  service-keys: missing  ONLY IN orders`,
    `owner     ${idOf(keyOf(5))}  next    never listed  orders: missing  service-keys: missing`,
  ]);
  const unlisted = shownKeys({ ...lists, services: new Map() }, ownKeys(keys));
  expect(unlisted.find((line) => line.startsWith('opening'))).toMatch(/ service-keys: never$/);
});
