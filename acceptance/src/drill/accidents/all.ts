import type { Accident } from '../accident.ts';
import { clickhouseAccidents } from './clickhouse.ts';
import { fileAccidents } from './files.ts';
import { folderAccidents } from './folders.ts';
import { kafkaAccidents, lastAccidents } from './kafka.ts';
import { machineAccidents } from './machines.ts';
import { redisAccidents } from './redis.ts';
import { registryAccidents } from './registry.ts';
import { tlsAccidents } from './tls.ts';

/** In the order in which they are carried out on one exchange. */
export const accidents: readonly Accident[] = [
  ...redisAccidents,
  ...clickhouseAccidents,
  ...registryAccidents,
  ...folderAccidents,
  ...fileAccidents,
  ...tlsAccidents,
  ...machineAccidents,
  ...kafkaAccidents,
  ...lastAccidents,
];
