import { Command } from 'commander';
import { stackOptions, withStackArguments } from '../../src/commands/stack-options.ts';

const external = {
  STACK: 'external',
  PM_KAFKA_BROKERS: 'kafka:9092',
  PM_REGISTRY_URL: 'http://registry/apis/ccompat/v7',
  PM_CLICKHOUSE_URL: 'http://clickhouse:8123',
  PM_REDIS_URL: 'redis://redis:6379',
};

/** Whether `npm start -- ...args` lists demo markets and funds test wallets, and whether it trades. */
function demoOf(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const command = withStackArguments(new Command()).parse(args, { from: 'user' });
  const { seed, demo } = stackOptions(command.opts(), () => {}, env);
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
