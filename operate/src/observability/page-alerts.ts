import { type Alert, grew } from './alert.ts';

const page = (alert: Omit<Alert, 'severity'>): Alert => ({ ...alert, severity: 'page' });

const faults = 'pm_matcher_partition_faults_total';
const missingOutputs = `${faults}{code=~"outputs_truncated|execution_gap"}`;
const fromGateway = 'pm_http_requests_total{service="gateway"}';
const failed = 'pm_http_requests_total{service="gateway",status=~"5.."}';

/** Alerts that someone acts on at once. */
export const pageAlerts: readonly Alert[] = [
  page({
    name: 'ServiceDown',
    runbook: 'services',
    expr: 'up{job="exchange"} == 0',
    forText: '1m',
    summary: 'a process does not answer on its operator port',
    cause:
      'it is dead, stuck or starting again and again: its log, then start it. Other processes go on',
  }),
  page({
    name: 'PartitionSilent',
    runbook: 'partitions',
    expr: 'max(pm_ingress_partitions_silent) > 0',
    forText: '1m',
    summary: 'a partition has no live owner for a minute',
    cause:
      'no matcher runs, or a restore fails: `/status` and the log of the matchers. Orders are 425 meanwhile; nothing is lost',
  }),
  page({
    name: 'ReaderSilent',
    runbook: 'records',
    expr: 'max by (service, topic, partition) (pm_reader_silence_seconds) > 5',
    forText: '30s',
    summary: 'a process reads a partition no more',
    cause:
      'the leader of the partition does not answer, or a reader stands still; it is opened again every 15 s. What the process shows of the partition is old',
  }),
  page({
    name: 'PartitionFails',
    runbook: 'partitions',
    expr: `sum by (partition, code) (increase(${faults}[10m])) > 2`,
    summary: 'a partition stops again and again',
    cause:
      'the label `code` names the fault. A chain or replay fault stops the partition on purpose: keep the log and the snapshots, and report it',
  }),
  page({
    name: 'OwnerStandsStill',
    runbook: 'partitions',
    expr: 'max by (partition) (pm_matcher_tick_age_seconds) > 5',
    forText: '15s',
    summary: 'the owner of a partition does not read its own ticks again',
    cause:
      'its reader stands still, it computes later than it reads, or its outputs cannot be stored. It gives the partition up by itself where it applies nothing',
  }),
  page({
    name: 'OutputsMissing',
    runbook: 'partitions',
    expr: grew(missingOutputs, '15m', 'partition, code'),
    summary: 'outputs are missing in `executions`',
    cause:
      'the log lost durable records; `npm run repair` writes them again ([kafka.md](kafka.md))',
  }),
  page({
    name: 'MoneyDoesNotAddUp',
    runbook: 'money',
    expr: grew('pm_solvency_breach_total', '1h', 'service'),
    summary: 'a wallet is below zero, or the tokens of a market are not covered',
    cause:
      '`solvency.sound` of `/status` is false and withdrawals are frozen. [operator.md](operator.md), "Money that does not add up"',
  }),
  page({
    name: 'RecordsForged',
    runbook: 'records',
    expr: grew('pm_unproven_records_total', '15m', 'topic, reason'),
    summary: 'records of a sealed topic are not proved',
    cause:
      'a writer without a key of a service, by topic and reason. The records change nothing; [sealed-topics.md](sealed-topics.md)',
  }),
  page({
    name: 'WithdrawalUnpaid',
    runbook: 'money',
    expr: grew('pm_withdrawals_unpaid_total', '15m', 'service'),
    summary: 'a withdrawal exceeds its reservation',
    cause: 'another writer on `transfers`; [operator.md](operator.md)',
  }),
  page({
    name: 'OperatorSilent',
    runbook: 'money',
    expr: 'max(pm_operator_partitions_silent) > 0',
    forText: '1m',
    summary: "the operator's process does not hear a partition",
    cause:
      'orders are booked meanwhile, but nothing can be halted there: its log, or start a second one with the same seed and file of operators ([operator.md](operator.md))',
  }),
  page({
    name: 'ResolutionOverdue',
    runbook: 'money',
    expr: 'max(pm_operator_resolutions_due) > 0',
    forText: '1m',
    summary: 'a resolution is due and not carried out',
    cause:
      'its partition has no owner, the audit trail cannot be written, or the matcher refuses it: the log of operator names the problem of each attempt, one every ten seconds. [operator.md](operator.md), "Challenges"',
  }),
  page({
    name: 'RedisNearlyFull',
    runbook: 'engines',
    expr: 'max by (server) (pm_redis_memory_bytes) / (max by (server) (pm_redis_memory_max_bytes) > 0) > 0.8',
    forText: '1m',
    summary: 'a Redis has less than a fifth of its memory left',
    cause:
      '`ledger`: give it more memory at once, a full one reserves nothing. `cache`: its `maxmemory` is too small for `PM_REDIS_CACHE_BYTES`; [redis.md](redis.md)',
  }),
  page({
    name: 'RedisRemovesKeys',
    runbook: 'engines',
    expr: 'max by (server) (pm_redis_evicts) > 0',
    summary: 'a Redis may remove keys to make room',
    cause: 'set `maxmemory-policy noeviction`: removed proofs can be used again',
  }),
  page({
    name: 'EngineAway',
    runbook: 'engines',
    expr: 'min by (engine) (pm_query_engine_up) == 0',
    forText: '1m',
    summary: 'Redis or ClickHouse does not answer query-api',
    cause:
      'without ClickHouse orders are booked and history stands still; without Redis no order is reserved. The state of the engine, then its network and account',
  }),
  page({
    name: 'ProjectionStandsStill',
    runbook: 'projections',
    expr: 'max by (view) (pm_projector_lag_seconds) > 30',
    forText: '1m',
    summary: 'a projection is more than half a minute late',
    cause:
      '`pm_projector_faults_total` by view and code. `npm run rebuild` brings missing tables and columns',
  }),
  page({
    name: 'ViewHalted',
    runbook: 'projections',
    expr: 'max by (view) (pm_projector_partitions{phase="halted"}) > 0',
    summary: 'a fault halted a partition of a view',
    cause:
      '`/status` of the projectors names partition and fault; it goes on after a restart without the cause',
  }),
  page({
    name: 'ReadersSeeOldData',
    runbook: 'projections',
    expr: 'max by (projection) (pm_query_complete_age_seconds{projection=~"tables|books|ledger"}) > 60',
    forText: '1m',
    summary: 'what readers get is more than a minute old',
    cause:
      'projectors do not run, ClickHouse or Redis is away, or a partition has no owner: `GET /status` of the base URL',
  }),
  page({
    name: 'StreamsDoNotFollow',
    runbook: 'streams',
    expr: 'max by (partition) (pm_streams_fault_seconds) > 5',
    forText: '30s',
    summary: 'streams do not follow the log',
    cause:
      'readers were closed with 4010 and resume elsewhere or later. The log of the process names the fault: `chain_broken` and `log_beginning_missing` mean another log, `log_unavailable` that Kafka is away. Without a usable state it folds the log from its first record',
  }),
  page({
    name: 'ServiceUnreachable',
    runbook: 'services',
    expr: 'sum by (target) (rate(pm_gateway_refused_total{reason="unreachable"}[1m])) > 0.1',
    forText: '1m',
    summary: 'the gateway does not reach a service',
    cause: 'the service is down or starting; the gateway answers 503 for its routes alone',
  }),
  page({
    name: 'RequestsFail',
    runbook: 'services',
    expr: `sum(rate(${failed}[5m])) / sum(rate(${fromGateway}[5m])) > 0.01`,
    forText: '2m',
    summary: 'more than one request in a hundred is answered with 5xx',
    cause: 'the dashboard Trading names routes and codes; mostly an engine or a service is away',
  }),
];
