import { openTable } from '@pm/domain/commands/compacted-table.io';
import { KeyedMutex } from '@pm/domain/commands/keyed-mutex.io';
import type { TopicsOf } from '@pm/domain/commands/topics.io';
import type { Clock } from '@pm/kit/clock';
import type { Fault } from '@pm/kit/fault';
import type { Lifecycle } from '@pm/kit/lifecycle';
import type { Log } from '@pm/kit/log';
import type { RedisClient } from '@pm/kit/redis';
import { microPerUnit } from '@pm/schemas/money';
import { redisKeys } from '@pm/schemas/redis/keys';
import { ApprovalRows } from './approval-rows.ts';
import { Approvals } from './approvals.io.ts';
import type { OperatorConfig } from './config.ts';
import { DaySums } from './day-sums.io.ts';
import { Operators } from './operators.io.ts';

/** Opens the operators and what waits for a second one; resolves when the file and the topic have been read. */
export async function openAdmission(
  topics: TopicsOf<'approvals'>,
  {
    config,
    redis,
    clock,
    life,
    log,
    onFault,
  }: {
    readonly config: OperatorConfig;
    readonly redis: RedisClient;
    readonly clock: Clock;
    readonly life: Pick<Lifecycle, 'onStop'>;
    readonly log: Log;
    onFault(fault: Fault): void;
  },
): Promise<{ readonly operators: Operators; readonly approvals: Approvals }> {
  const operators = await Operators.open(config.operatorsFile, { clock, log });
  life.onStop('operators', () => operators.close());
  const { names, codecs } = topics;
  const rows = new ApprovalRows();
  const topic = { topic: names.approvals, codec: codecs.approvals, log, onFault };
  const table = await openTable(topics, topic, rows);
  const rule = {
    isOn: config.secondPerson === 'on',
    limitsMicro: {
      deposit: config.depositLimitUsdc * microPerUnit,
      withdrawal: config.withdrawalLimitUsdc * microPerUnit,
    },
    windowMs: config.approvalSeconds * 1000,
    challengeMs: config.challengeSeconds * 1000,
  };
  const daySums = new DaySums(redis, redisKeys(config.redisPrefix));
  const mutex = new KeyedMutex();
  const approvals = new Approvals({ clock, rows, table, mutex, rule, daySums });
  return { operators, approvals };
}
