import { type Alert, grew } from './alert.ts';

const ticket = (alert: Omit<Alert, 'severity'>): Alert => ({ ...alert, severity: 'ticket' });

const closed = (code: string) => `pm_streams_closed_total{code="${code}"}`;
const foreign = (program: string) =>
  `sum by (service) (increase(pm_${program}_foreign_envelopes_total[15m])) > 3`;
const slowOrders = 'pm_http_request_seconds_bucket{service="gateway",method="POST",route="/order"}';

const logAlerts: readonly Alert[] = [
  ticket({
    name: 'OrdersSlow',
    runbook: 'services',
    expr: `histogram_quantile(0.99, sum by (le) (rate(${slowOrders}[5m]))) > 1`,
    forText: '5m',
    summary: 'one order in a hundred takes more than a second',
    cause:
      'the dashboard Partitions: lag and store time of matchers, then processor time of the machine',
  }),
  ticket({
    name: 'RecordsRejected',
    runbook: 'records',
    expr: 'sum by (reason) (increase(pm_matcher_rejected_records_total[10m])) > 20',
    summary: 'records of `orders` are rejected',
    cause:
      'envelopes of unknown keys or from another version; they are in `dead-letters`. `OLD_SEQUENCE`: records are appended again; a few right after a process of ingress starts are harmless. `CLOCK_LEAP`, for longer than some seconds after a stop: a matcher of an older release whose clock is ahead of those of ingress; set its time',
  }),
  ticket({
    name: 'KeyUsedTwice',
    runbook: 'records',
    expr: `${foreign('ingress')} or ${foreign('operator')}`,
    summary: 'two processes send under one key',
    cause:
      "two ingress with one `PM_SIGNOFF_SEED`, or two of the operator's processes: they outrun each other, and commands go again. Harmless where processes share a seed on purpose and meet rarely; else end the one that should not run, or give each its own (`npm run keys -- add --seed-file FILE`)",
  }),
  ticket({
    name: 'OwnersOverlap',
    runbook: 'partitions',
    expr: 'max by (partition) (increase(pm_matcher_claims_total{ownership="elsewhere"}[1h])) > 6',
    summary: 'a partition moves between owners again and again',
    cause:
      'a matcher was paused, killed or restarted; harmless once. Again and again: a machine pauses its processes for longer than `PM_OWNER_SILENCE_MS`, or a matcher dies again and again',
  }),
  ticket({
    name: 'PartitionsUnopened',
    runbook: 'partitions',
    expr: 'sum(pm_matcher_partitions_unopened) > 0',
    forText: '5m',
    summary: 'topics have more partitions than are opened',
    cause:
      'partitions were added to `orders` and `executions`; they take no market. Run set-up, which opens them while services run ([kafka.md](kafka.md))',
  }),
  ticket({
    name: 'SnapshotsFail',
    runbook: 'partitions',
    expr: grew('pm_matcher_snapshot_failures_total', '15m', 'partition, what'),
    summary: 'snapshots are not written or not used',
    cause: 'disk full, or a damaged file; a restart then replays more of the log',
  }),
  ticket({
    name: 'MatcherLags',
    runbook: 'partitions',
    expr: 'max by (partition) (pm_matcher_lag_seconds) > 1',
    forText: '1m',
    summary: 'a matcher is more than a second late',
    cause: 'overload; orders are refused as `too_late` when it exceeds their time to book',
  }),
  ticket({
    name: 'PartitionClockAhead',
    runbook: 'partitions',
    expr: 'max by (partition) (pm_matcher_clock_ahead_seconds) > 1',
    forText: '1m',
    summary: 'the clock of a partition is ahead of the one of its owner',
    cause:
      'the wall clock of the machine of that matcher was set back, or was ahead together with that of ingress and is right again',
  }),
  ticket({
    name: 'ThreadPoolHangs',
    runbook: 'partitions',
    expr: grew('pm_matcher_signature_pool_late_total', '15m', 'instance'),
    summary: 'files or look-ups of names hang in the threads of a matcher',
    cause:
      'the disk of `PM_SNAPSHOT_DIR` hangs, as a network file system does; signatures are checked on the main thread meanwhile',
  }),
];

const readAlerts: readonly Alert[] = [
  ticket({
    name: 'CheckpointsFail',
    runbook: 'projections',
    expr: grew('pm_projector_checkpoints_total{outcome!="taken"}', '30m', 'outcome'),
    summary: 'checkpoints are not taken or not used',
    cause:
      'the store is away, or an object in it was changed; a lost Redis then takes longer to fold',
  }),
  ticket({
    name: 'InsertsRetried',
    runbook: 'projections',
    expr: 'sum(increase(pm_projector_insert_retries_total[5m])) > 0',
    forText: '2m',
    summary: 'inserts into the tables are retried',
    cause: 'ClickHouse is away or overloaded',
  }),
  ticket({
    name: 'TablesHeld',
    runbook: 'projections',
    expr: 'max(pm_projector_held) > 0',
    forText: '15m',
    summary: 'the guard of the tables has held inserts for a quarter of an hour',
    cause:
      'a rebuild was cut off: run `npm run rebuild` to its end ([audit-and-rebuild.md](audit-and-rebuild.md))',
  }),
  ticket({
    name: 'CacheIncoherent',
    runbook: 'engines',
    expr: 'min(pm_query_cache_coherent) == 0',
    forText: '1m',
    summary: 'cached books are not invalidated',
    cause: 'query-api lost its Redis subscription; reads go to Redis meanwhile',
  }),
  ticket({
    name: 'RecordsSkipped',
    runbook: 'records',
    expr: `${grew('pm_query_records_skipped_total', '15m', 'service, topic')} or ${grew('pm_streams_records_skipped_total', '15m', 'service, topic')}`,
    summary: 'readers skip records of a topic',
    cause: 'a record of a compacted topic that this version cannot read',
  }),
];

/** By process, in the least of ten minutes: what is left after collections. */
const heapFull =
  '(max by (service, instance) (min_over_time(pm_heap_old_bytes[10m]) / pm_heap_limit_bytes) > 0.8)';

const tradeAlerts: readonly Alert[] = [
  ticket({
    name: 'SessionCancelsLate',
    runbook: 'services',
    expr: 'sum(increase(pm_ingress_session_end_seconds_count[15m])) - sum(increase(pm_ingress_session_end_seconds_bucket{le="15"}[15m])) > 0',
    summary: 'session cancels came later than 15 seconds after the last heartbeat',
    cause:
      'a partition without an owner, or an ingress that is stopped; [sessions.md](../trading/sessions.md)',
  }),
  ticket({
    name: 'WithdrawalsVoid',
    runbook: 'money',
    expr: grew('pm_withdrawals_void_total', '15m', 'service'),
    summary: 'withdrawals are void',
    cause: 'records after a fence; their clients send them again',
  }),
  ticket({
    name: 'RateLimitsAlone',
    runbook: 'engines',
    expr: 'max by (service) (pm_rate_counted_alone) > 0',
    forText: '1m',
    summary: 'a process counts rate limits alone',
    cause:
      'the Redis of the cache is away, or `pm_rate_uncounted_requests` grows: more callers than it has room for ([redis.md](redis.md))',
  }),
  ticket({
    name: 'IdempotencyKeysFull',
    runbook: 'engines',
    expr: grew('pm_ingress_retries_full_total{of="all"}', '15m', 'kind'),
    summary: 'idempotency keys have no room',
    cause:
      'one caller with many wallets, or more trade than `PM_REDIS_CACHE_BYTES` is for; [redis.md](redis.md)',
  }),
  ticket({
    name: 'LedgerNotSynced',
    runbook: 'engines',
    expr: 'min(pm_redis_synced) == 0',
    forText: '1m',
    summary: 'the ledger may lose its last second',
    cause: "`appendfsync` of the ledger's Redis is not `always`; [redis.md](redis.md)",
  }),
  ticket({
    name: 'RequestsQueued',
    runbook: 'services',
    expr: 'max by (group) (pm_gateway_requests_waiting) > 100',
    forText: '1m',
    summary: 'requests of clients wait for a slot at the gateway',
    cause:
      'one client sends more at once than it may, or a service is slow: the route with the longest duration',
  }),
  ticket({
    name: 'HeapNearlyFull',
    runbook: 'services',
    expr: `${heapFull} * on (service, instance) group_left (what) (topk by (service, instance) (1, pm_held_entries) ^ 0) or on (service, instance) ${heapFull}`,
    summary: 'a process has used four fifths of its heap, and ends when it is full',
    cause:
      'more markets, wallets or orders than the heap holds: `what` is what it has most of; a larger heap (`PM_HEAP_MB`, or that of the service; [what-a-box-can-do.md](what-a-box-can-do.md#memory-by-markets-and-wallets))',
  }),
  ticket({
    name: 'EventLoopBusy',
    runbook: 'services',
    expr: 'max by (service) (nodejs_eventloop_lag_p99_seconds) > 0.5',
    forText: '2m',
    summary: 'a process works on one thing for half a second',
    cause: 'a processor that is shared with too much else, or a large replay or snapshot',
  }),
];

const streamAlerts: readonly Alert[] = [
  ticket({
    name: 'StreamsLag',
    runbook: 'streams',
    expr: 'max by (partition) (pm_streams_lag_seconds) > 5',
    forText: '1m',
    summary: 'streams are more than five seconds late',
    cause:
      'the processor is full: start another instance. `pm_streams_subscriptions` and `pm_streams_openings` say what for',
  }),
  ticket({
    name: 'ReadersTooSlow',
    runbook: 'streams',
    expr: `sum(rate(${closed('4008')}[5m])) > 1`,
    summary: 'many readers of streams are too slow',
    cause:
      'one network, or too much for the machine: `pm_streams_queued_bytes` near a quarter of the largest heap or 512 MB; `pm_streams_merged_deltas` grows before',
  }),
  ticket({
    name: 'CatalogNearlyFull',
    runbook: 'money',
    expr: 'max(pm_operator_markets) / max(pm_operator_markets_max) > 0.8',
    summary: 'most of the markets that may be listed are listed',
    cause:
      'beyond `PM_MARKETS_MAX` a listing is refused with `catalog_full`: larger heaps and a larger number ([limits.md](../trading/limits.md))',
  }),
  ticket({
    name: 'NoRoomForReaders',
    runbook: 'streams',
    expr: `sum(increase(${closed('4029')}[10m])) > 10`,
    summary: 'streams have no room for readers',
    cause:
      '`pm_streams_room_bytes` near half of the largest heap: a larger heap (`PM_HEAP_MB_STREAMS`), or another instance',
  }),
  ticket({
    name: 'ResumesWait',
    runbook: 'streams',
    expr: 'max(pm_streams_replays_waiting) > 0',
    forText: '2m',
    summary: 'resumed subscriptions wait for their replay',
    cause:
      'many clients come back at once, or Kafka is slow; `pm_streams_resumes_total{outcome="failed"}` grows',
  }),
  ticket({
    name: 'StreamsRefuse',
    runbook: 'streams',
    expr: `sum(rate(${closed('1008')}[5m])) > 1`,
    summary: 'streams refuse many connections',
    cause: 'clients with wrong frames or revoked keys',
  }),
];

/** Alerts that someone acts on the same day. */
export const ticketAlerts: readonly Alert[] = [
  ...logAlerts,
  ...readAlerts,
  ...tradeAlerts,
  ...streamAlerts,
];
