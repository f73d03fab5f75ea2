import { Command } from 'commander';
import { testDomain } from '../../../kit/test/signing-domain.ts';
import { stackOptions, withStackArguments } from '../../src/commands/stack-options.ts';

const external = {
  STACK: 'external',
  PM_KAFKA_BROKERS: 'kafka:9092',
  PM_REGISTRY_URL: 'http://registry/apis/ccompat/v7',
  PM_CLICKHOUSE_URL: 'http://clickhouse:8123',
  PM_REDIS_URL: 'redis://redis:6379',
};

function optionsOf(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const command = withStackArguments(new Command()).parse(args, { from: 'user' });
  return stackOptions(command.opts(), () => {}, env);
}

/** Whether `npm start -- ...args` lists demo markets and funds test wallets, and whether it trades. */
function demoOf(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const { seed, demo } = optionsOf(env, ...args);
  return { seed, trades: demo !== null };
}

test('local engines get the demo; --no-demo leaves its markets and wallets', () => {
  expect(demoOf({})).toEqual({ seed: true, trades: true });
  expect(demoOf({}, '--demo')).toEqual({ seed: true, trades: true });
  expect(demoOf({}, '--no-demo')).toEqual({ seed: true, trades: false });
});

test('external engines get markets, money and trading only with --demo', () => {
  expect(demoOf(external)).toEqual({ seed: false, trades: false });
  expect(demoOf(external, '--no-demo')).toEqual({ seed: false, trades: false });
  expect(demoOf(external, '--demo')).toEqual({ seed: true, trades: true });
});

test('a demo alone accepts what is signed for other exchanges, unless it is configured', () => {
  const familyOf = (env: Readonly<Record<string, string>>, ...args: string[]) =>
    optionsOf(env, ...args).signing?.familyDomains;
  expect(familyOf({})).toBe(true);
  expect(familyOf({ PM_FAMILY_DOMAINS: '0' })).toBe(false);
  expect(familyOf(external)).toBe(false);
  expect(familyOf({ ...external, PM_FAMILY_DOMAINS: '1' })).toBe(true);
  expect(() => familyOf({ PM_FAMILY_DOMAINS: 'maybe' })).toThrow('PM_FAMILY_DOMAINS is not');
  const json = JSON.stringify(testDomain);
  expect(optionsOf({ PM_SIGNING_DOMAIN: json }).signing?.signingDomain).toBe(json);
  expect(() => optionsOf({ PM_SIGNING_DOMAIN: '{}' })).toThrow('PM_SIGNING_DOMAIN is not JSON');
});

test('a stack of the command line has heaps as its variables say, and goes on without what fails', () => {
  const { heaps, goesOn } = optionsOf({ PM_HEAP_MB: '300', PM_HEAP_MB_STREAMS: '1500' });
  expect(heaps).toMatchObject({ ingress: 300, streams: 1500 });
  expect(goesOn).toBe(true);
  expect(() => optionsOf({ PM_HEAP_MB: 'much' })).toThrow('PM_HEAP_MB=much: allowed is');
});

test('--setup-only is for engines that stay, and for no demo', () => {
  const options = (
    env: Readonly<Record<string, string>>,
    more: Readonly<Record<string, boolean>>,
  ) => {
    const command = withStackArguments(new Command()).parse([], { from: 'user' });
    return stackOptions({ ...command.opts(), setupOnly: true, ...more }, () => {}, env);
  };
  expect(options(external, {})).toMatchObject({ seed: false, demo: null });
  expect(options(external, { demo: false })).toMatchObject({ seed: false, demo: null });
  expect(() => options(external, { demo: true })).toThrow('--demo needs the services');
  expect(() => options({}, {})).toThrow('--setup-only: it is for STACK=external');
  expect(() => options({ STACK: 'containers' }, {})).toThrow('it is for STACK=external');
});

describe('copies of each topic', () => {
  const copiesOf = (env: Readonly<Record<string, string>>, ...args: string[]) => {
    const { replicationFactor, replicationMin } = optionsOf(env, ...args);
    return { replicationFactor, replicationMin };
  };

  test('one on the local broker, three on engines of another installation', () => {
    expect(copiesOf({})).toEqual({ replicationFactor: 1, replicationMin: 1 });
    expect(copiesOf(external)).toEqual({ replicationFactor: 3, replicationMin: 3 });
    expect(copiesOf(external, '--replication', '5')).toMatchObject({ replicationFactor: 5 });
  });

  test('three on three local brokers, and no other number of them', () => {
    expect(optionsOf({}).brokers).toBe(1);
    expect(optionsOf({}, '--brokers', '3').brokers).toBe(3);
    expect(copiesOf({}, '--brokers', '3')).toEqual({ replicationFactor: 3, replicationMin: 3 });
    expect(() => optionsOf({}, '--brokers', '2')).toThrow('allowed is 1 or 3');
    expect(optionsOf(external).brokers).toBeUndefined();
    expect(() => optionsOf(external, '--brokers', '3')).toThrow('it is for local brokers');
  });

  test('fewer than three on engines of another installation only where the variable says so', () => {
    expect(() => copiesOf(external, '--replication', '2')).toThrow('PM_REPLICATION_MIN=2');
    const configured = { ...external, PM_REPLICATION_MIN: '1' };
    expect(copiesOf(configured, '--replication', '1')).toEqual({
      replicationFactor: 1,
      replicationMin: 1,
    });
    expect(() => copiesOf({ ...external, PM_REPLICATION_MIN: 'few' })).toThrow(
      'PM_REPLICATION_MIN=few: allowed is a whole number from 1 to 9',
    );
  });
});

test('the number of partitions is asked for by option or variable, and is what is there otherwise', () => {
  const partitionsIn = (env: Readonly<Record<string, string>>, ...args: string[]) => {
    const { partitions, partitionsOfNew } = optionsOf(env, ...args);
    return [partitions, partitionsOfNew];
  };
  expect(partitionsIn({})).toEqual([undefined, 8]);
  expect(partitionsIn(external)).toEqual([undefined, 64]);
  expect(partitionsIn({ ...external, PM_PARTITIONS: '16' })).toEqual([16, 64]);
  expect(partitionsIn({ PM_PARTITIONS: '16' }, '--partitions', '12')).toEqual([12, 8]);
  for (const wrong of ['0', '1025', '1.5', 'many'])
    expect(() => partitionsIn({}, '--partitions', wrong)).toThrow(
      `--partitions ${wrong}: allowed is a whole number from 1 to 1024`,
    );
  expect(() => partitionsIn({ PM_PARTITIONS: '-1' })).toThrow('PM_PARTITIONS=-1: allowed is');
});
