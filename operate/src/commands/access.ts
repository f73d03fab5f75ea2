import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readNames } from '@pm/deploy/installation/read-addresses';
import { toolUsage } from '@pm/deploy/installation/tool-call';
import { messageOf } from '@pm/deploy/local/stack-error';
import { Command, Option } from 'commander';
import { type AccessFormat, accessFormats, accessText } from '../access/output.ts';
import { type RedisServer, redisServers } from '../access/redis-users.ts';

/**
 * `npm run access`: the accounts that services and tools need at an engine, with the least rights that each works with.
 * Changes nothing and knows no password. Exit code 1 for a variable that is wrong.
 */
const { format, server, out } = new Command(toolUsage('access'))
  .description(
    'Writes the accounts of services and tools at an engine with their rights, for the exchange that PM_TOPIC_PREFIX, PM_REDIS_PREFIX and PM_CLICKHOUSE_DATABASE name: commands of kafka-acls.sh, lines of an ACL file of Redis, or statements of ClickHouse. How to apply: docs/operating/security.md.',
  )
  .addOption(
    new Option('--format <engine>', 'the engine; redis-6 for versions before 7.0')
      .choices(accessFormats)
      .makeOptionMandatory(),
  )
  .addOption(
    new Option('--server <which>', 'of Redis: the one of PM_REDIS_URL, or of PM_REDIS_CACHE_URL')
      .choices(redisServers)
      .default('all', 'all: one server for both'),
  )
  .option('--out <file>', 'where it is written, in place of standard output')
  .parse()
  .opts<{ format: AccessFormat; server: RedisServer; out?: string }>();

try {
  const text = accessText(format, readNames(process.env), server);
  if (out === undefined) process.stdout.write(text);
  else writeFileSync(resolve(out), text);
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
