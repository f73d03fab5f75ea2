import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { sealedTopics } from '@pm/domain/authority/sealed-log.io';
import type { SealRole } from '@pm/schemas/log/service-keys';
import { type Topic, topics } from '@pm/schemas/log/topics';
import { isCacheKey, redisKeys } from '@pm/schemas/redis/keys';
import { declaredAccess } from '../../src/access/declared.ts';
import type { DeclaredAccess } from '../../src/access/rights.ts';
import { clickhouseRoles } from '../../src/roles/roles.ts';
import { type Sources, sourcesOf } from './sources-of.ts';

interface Program {
  /** Where it begins. */
  readonly entry: string;
  /** Topics, keys and commands in files that it shares with others, in functions that it never calls. */
  readonly notUsed?: readonly string[];
}

const programs: Readonly<Record<string, Program>> = {
  ingress: { entry: 'ingress/src/main.ts' },
  operator: { entry: 'operator/src/main.ts' },
  matcher: { entry: 'matcher/src/main.ts', notUsed: ['transfers'] },
  projectors: { entry: 'projectors/src/main.ts' },
  // Ingress alone brings uses of agents to the log, and forgets agents. Who reads no transfers judges no deposits.
  'query-api': {
    entry: 'query-api/src/main.ts',
    notUsed: ['agentsFlush', 'pttl', 'set', 'transfers'],
  },
  streams: { entry: 'streams/src/main.ts' },
  setup: { entry: 'deploy/src/setup/exchange-setup.ts' },
  keys: { entry: 'operate/src/commands/keys.ts', notUsed: ['transfers'] },
  audit: { entry: 'operate/src/commands/audit.ts' },
  // It reads no record of the log: the ends of `executions` say which partitions there are.
  export: {
    entry: 'operate/src/commands/export.ts',
    notUsed: ['orders', 'transfers', 'serviceKeys'],
  },
  rebuild: { entry: 'operate/src/commands/rebuild.ts', notUsed: ['orders', 'transfers'] },
  repair: { entry: 'operate/src/commands/repair.ts', notUsed: ['transfers'] },
};

const sources = new Map(
  Object.entries(programs).map(([name, { entry }]) => [name, sourcesOf(entry)]),
);

function sourcesNamed(name: string): Sources {
  const found = sources.get(name);
  if (found === undefined) throw new Error(`no sources of ${name}`);
  return found;
}

const sorted = (names: Iterable<string>) => [...new Set(names)].sort();
const named = (texts: Iterable<string>, pattern: RegExp) =>
  [...texts].flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name));

const allTopics = Object.keys(topics);
const sealed = allTopics.filter((name) =>
  sealedTopics().some(({ topic }) => topic === Reflect.get(topics, name)),
);

/** Topics that sources name by `topics.<name>`, one by one or all of a kind. */
function topicsIn(files: Sources): readonly string[] {
  return [...files].flatMap(([file, text]) => {
    // The registry and the seals know all topics, and reach none by themselves.
    if (file.startsWith('kit/') || !/\btopics\b|sealedTopics/.test(text)) return [];
    const ofSchemas = /import [^;]*\btopics\b[^;]*from '@pm\/schemas\/log\/topics'/.test(text);
    const every = /Object\.values(<\w+>)?\(topics\)/.test(text) && !file.startsWith('domain/');
    const everySealed = /sealedTopics\(\)/.test(text) && !file.startsWith('domain/');
    return [
      ...(ofSchemas ? named([text], /\btopics\.(\w+)/g) : []).filter((one) =>
        allTopics.includes(one),
      ),
      ...(every ? allTopics : []),
      ...(everySealed ? sealed : []),
    ];
  });
}

const declaredTopics = ({ topics: rights }: DeclaredAccess, operation?: string) =>
  sorted(
    rights
      .filter(
        ({ operations }) => operation === undefined || operations.includes(operation as never),
      )
      .flatMap(({ topics: names }) => names),
  );

const keyNames = Object.keys(redisKeys(''));
const ledgerFile = 'domain/src/ledger/redis-ledger.io.ts';

/** The key that a prefix of keys or the name of a field belongs to; null for a field. */
function keyOf(name: string): string | null {
  if (name.endsWith('Prefix')) return name.slice(0, -'Prefix'.length);
  return /Of$/.test(name) ? null : name;
}

function keysIn(texts: Iterable<string>): readonly string[] {
  const all = [...texts];
  const asMembers = named(all, /[kK]eys\.(\w+)/g);
  const taken = named(all, /\{([^{}]*)\}\s*=\s*(?:this\.)?#?keys\b/g);
  const picked = named(all, /Pick<\s*RedisKeys,([^>]*)>/g);
  const names = [
    ...asMembers,
    ...[...taken, ...picked].flatMap((list) => list.match(/\w+/g) ?? []),
  ];
  return names.flatMap((name) => {
    const key = keyNames.includes(name) ? keyOf(name) : null;
    return key === null ? [] : [key];
  });
}

/** Keys that a method of the ledger uses, by itself and through the lists of keys for its scripts. */
function ledgerKeys(method: string): readonly string[] {
  const text = sourcesNamed('projectors').get(ledgerFile) ?? '';
  const methods = text.split(/\n {2}(?=(?:async |get )?#?\w+[(<])/);
  const beginning = (start: RegExp) => methods.filter((one) => start.test(one));
  const own = beginning(new RegExp(`^async ${method}\\(`));
  expect([method, own.length]).toEqual([method, 1]);
  const lists = named(own, /this\.#(\w+Keys)\b/g);
  return keysIn([...own, ...lists.flatMap((list) => beginning(new RegExp(`^(get )?#${list}\\(`)))]);
}

const isOfLedger = (file: string) => file.startsWith('domain/src/ledger/');
const isOfKit = (file: string) => file.startsWith('kit/');
const textsOutsideLedger = (files: Sources) =>
  [...files].flatMap(([file, text]) => (isOfLedger(file) || isOfKit(file) ? [] : [text]));

function redisKeysUsed(name: string): readonly string[] {
  const files = sourcesNamed(name);
  const outside = textsOutsideLedger(files);
  const methods = files.has(ledgerFile) ? named(outside, /[lL]edger\.(\w+)\(/g) : [];
  const ofLedger = sorted(methods).filter((method) =>
    (files.get(ledgerFile) ?? '').includes(`\n  async ${method}(`),
  );
  return sorted([...keysIn(outside), ...ofLedger.flatMap(ledgerKeys)]);
}

/** Commands of Redis in scripts and in calls of the client. */
function commandsIn(texts: Iterable<string>): readonly string[] {
  const all = [...texts];
  const ofScripts = named(all, /redis\.call\('(\w+)'/g);
  const ofClient = named(all, /\b(?:#?redis|pipeline|listener)\.(\w+)\(/g).map((one) =>
    one.replace(/Buffer$/, ''),
  );
  const isScripted = all.some((text) => /(?<!function )defineScript[<(]/.test(text));
  const isTracking = all.some((text) => /'CLIENT',\s*'TRACKING'/.test(text));
  return [
    ...ofScripts.map((command) => command.toLowerCase()),
    ...ofClient.filter((one) => !notCommands.has(one)),
    ...(isScripted ? ['eval', 'evalsha'] : []),
    ...(all.some((text) => /\.client\('ID'\)/.test(text)) ? ['client|id'] : []),
    ...(isTracking ? ['client|tracking'] : []),
    // ioredis, at each connection.
    'info',
    'select',
  ];
}

/** Methods of the client, and of what else has such a name, that send no command of their own. */
const notCommands = new Set([
  'call',
  'check',
  'client',
  'close',
  'disconnect',
  'duplicate',
  'exec',
  'listen',
  'off',
  'on',
  'once',
  'pipeline',
]);

const each = declaredAccess.map((access) => [access.name, access] as const);

test('every program that connects to Kafka has declared access, and no other', () => {
  expect(sorted(declaredAccess.map(({ name }) => name))).toEqual(sorted(Object.keys(programs)));
  const services = ['ingress', 'matcher', 'projectors', 'query-api', 'mcp'];
  const commands = ['deploy/src/commands', 'operate/src/commands'];
  const entries = [
    ...services.map((room) => `${room}/src/main.ts`),
    'streams/src/main.ts',
    'operator/src/main.ts',
    'deploy/src/demo/main.ts',
    'gateway/src/main.ts',
    ...commands.flatMap((folder) =>
      readdirSync(join(repositoryRoot, folder)).map((file) => `${folder}/${file}`),
    ),
  ];
  const connecting = entries.filter((entry) =>
    [...sourcesOf(entry)].some(
      ([file, text]) => !file.startsWith('kit/') && /\bopen(LogClient|WatchedLog)\(/.test(text),
    ),
  );
  // The one starts a stack, and sets it up before; the other asks with the account of set-up.
  const setups = ['deploy/src/commands/start.ts', 'operate/src/commands/preflight.ts'];
  const known = Object.values(programs).map(({ entry }) => entry);
  expect(sorted(connecting)).toEqual(
    sorted([...known.filter((entry) => !entry.includes('/setup/')), ...setups]),
  );
});

describe.each(each)('%s', (name, access) => {
  const { notUsed = [] } = programs[name] ?? {};

  test('has access to the topics that its sources name, and to no other', () => {
    const used = topicsIn(sourcesNamed(name)).filter((one) => !notUsed.includes(one));
    expect(declaredTopics(access)).toEqual(sorted(used));
  });

  test('writes topics only if it opens a producer', () => {
    const opens = [...sourcesNamed(name)].some(
      ([file, text]) =>
        !/^(kit\/|domain\/src\/authority\/|deploy\/src\/installation\/)/.test(file) &&
        /\.producer\(/.test(text),
    );
    expect(declaredTopics(access, 'Write').length > 0).toBe(opens);
  });

  test('has access to the keys of Redis that its sources name, and to no other', () => {
    const used = redisKeysUsed(name).filter((one) => !notUsed.includes(one));
    const [ledger, cache] = [access.redis, access.redisCache].map((rights) => [
      ...(rights?.reads ?? []),
      ...(rights?.writes ?? []),
    ]);
    expect(sorted([...(ledger ?? []), ...(cache ?? [])])).toEqual(used);
    expect(ledger?.filter((key) => isCacheKey(key))).toEqual([]);
    expect(cache?.filter((key) => !isCacheKey(key))).toEqual([]);
  });

  test('may send the commands that its sources send', () => {
    const commands = [access.redis, access.redisCache].flatMap((rights) => rights?.commands ?? []);
    if (commands.length === 0) return;
    const files = sourcesNamed(name);
    const all = commandsIn([...files].flatMap(([file, text]) => (isOfKit(file) ? [] : [text])));
    expect(commands.filter((command) => !all.includes(command))).toEqual([]);
    // Projectors run all scripts of the ledger; which ones others run is proved on real servers.
    const needed = name === 'projectors' ? all : commandsIn(textsOutsideLedger(files));
    const missing = sorted(needed).filter((command) => !commands.includes(command));
    expect(missing).toEqual(sorted(notUsed.filter((one) => all.includes(one))));
  });
});

test('the services that may seal a topic are those that may write it', () => {
  const holders: Readonly<Record<SealRole, readonly string[]>> = {
    INGRESS: ['ingress'],
    OPERATOR: ['operator'],
    LEDGER: ['projectors'],
    OWNER: ['matcher'],
    ROOT: ['keys', 'setup'],
  };
  for (const [name, { writers }] of Object.entries<Topic>(topics)) {
    if (writers === undefined) continue;
    const writing = declaredAccess.filter((access) =>
      declaredTopics(access, 'Write').includes(name),
    );
    expect([name, sorted(writing.map((access) => access.name))]).toEqual([
      name,
      sorted(writers.flatMap((role) => holders[role])),
    ]);
  }
});

test('no service creates, deletes or changes a topic', () => {
  const services = ['ingress', 'operator', 'matcher', 'projectors', 'query-api', 'streams'];
  for (const access of declaredAccess) {
    if (!services.includes(access.name)) continue;
    const all = access.topics.flatMap(({ operations }) => operations);
    expect(
      all.filter((one) => ['Create', 'Delete', 'Alter', 'AlterConfigs'].includes(one)),
    ).toEqual([]);
  }
});

test('groups are those that services join', () => {
  const views = named(sourcesNamed('projectors').values(), /groupOf\(room, '(\w+)'\)/g);
  const groups = (name: string, operation: string) =>
    declaredAccess
      .filter((access) => access.name === name)
      .flatMap((access) => access.groups.filter((one) => one.operation === operation))
      .flatMap(({ names }) => names('x-'));
  expect(sorted(groups('projectors', 'Read'))).toEqual(
    sorted(views.map((view) => `x-projector-${view}`)),
  );
  expect(groups('matcher', 'Read')).toEqual(['x-matchers']);
});

test('roles of ClickHouse are those of its declarations', () => {
  const roles = declaredAccess.flatMap(({ clickhouseRole: role }) => (role === null ? [] : [role]));
  const known = clickhouseRoles.map(({ name }) => name);
  expect(roles.filter((role) => !known.includes(role))).toEqual([]);
});
