import type { InstallationNames } from '@pm/deploy/installation/read-addresses';
import { clickhouseUserStatements } from './clickhouse-users.ts';
import { declaredAccess } from './declared.ts';
import { kafkaAclLines } from './kafka-acls.ts';
import { type RedisServer, redisUserLines } from './redis-users.ts';

export const accessFormats = ['kafka', 'redis', 'redis-6', 'clickhouse'] as const;
export type AccessFormat = (typeof accessFormats)[number];

/** The accounts of one engine and their rights, in its language; of Redis, of one of its servers. */
export function accessText(
  format: AccessFormat,
  names: InstallationNames,
  server: RedisServer = 'all',
): string {
  return `${linesOf(format, names, server).join('\n')}\n`;
}

function linesOf(
  format: AccessFormat,
  names: InstallationNames,
  server: RedisServer,
): readonly string[] {
  switch (format) {
    case 'kafka':
      return ['set -eu', ...kafkaAclLines(declaredAccess, names.topicPrefix)];
    case 'redis':
    case 'redis-6':
      return redisUserLines(declaredAccess, {
        server,
        redisPrefix: names.redisPrefix,
        hasReadOnlyKeys: format === 'redis',
      });
    case 'clickhouse':
      return clickhouseUserStatements(declaredAccess, names.clickhouseDatabase).map(
        (statement) => `${statement};`,
      );
  }
}
