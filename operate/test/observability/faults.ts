/** A fault of ten minutes after the start and twenty minutes long, as series, and the labels of its alert. */
export interface FaultCase {
  readonly series: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** When the alert fires for sure; default: shortly before the fault ends. */
  readonly at?: string;
}

/** Samples before, during and after the fault, 15 s apart. */
const [before, during, after] = [40, 80, 300] as const;

const flat = (value: number, samples: number) => `${value}+0x${samples - 1}`;
const gauge = (healthy: number, faulty: number) =>
  `${flat(healthy, before)} ${flat(faulty, during)} ${flat(healthy, after)}`;
/** A counter that grows during the fault alone, by as much with each sample. */
const counter = (step: number) =>
  `${flat(0, before)} ${step}+${step}x${during - 1} ${flat(step * during, after)}`;
/** A counter that grows all the time. */
const steady = (step: number) => `0+${step}x${before + during + after - 1}`;
/** A counter that is not there before its first count. */
const appears = `_x${before} ${flat(1, during + after)}`;

/** Use and bound of the heap of a process. */
const heapOf = (service: string, old: string, limit: string) => ({
  [`pm_heap_old_bytes{service="${service}",instance="${service}:1"}`]: old,
  [`pm_heap_limit_bytes{service="${service}",instance="${service}:1"}`]: limit,
});

const soon = '12m';

/** By alert; every alert has its fault. */
export const faults: Readonly<Record<string, FaultCase>> = {
  ServiceDown: {
    series: { 'up{job="exchange",instance="127.0.0.1:18004"}': gauge(1, 0) },
    labels: { job: 'exchange', instance: '127.0.0.1:18004' },
  },
  PartitionSilent: { series: { 'pm_ingress_partitions_silent{service="ingress"}': gauge(0, 1) } },
  ReaderSilent: {
    series: {
      'pm_reader_silence_seconds{service="projectors",topic="executions",partition="3"}': gauge(
        0.2,
        14,
      ),
      'pm_reader_silence_seconds{service="projectors",topic="executions",partition="2"}': gauge(
        0.2,
        0.4,
      ),
    },
    labels: { service: 'projectors', topic: 'executions', partition: '3' },
  },
  PartitionsUnopened: {
    series: { 'pm_matcher_partitions_unopened{service="matcher"}': gauge(0, 8) },
  },
  PartitionFails: {
    series: {
      'pm_matcher_partition_faults_total{partition="3",code="chain_mismatch"}': counter(1),
    },
    labels: { partition: '3', code: 'chain_mismatch' },
  },
  OwnerStandsStill: {
    series: {
      'pm_matcher_tick_age_seconds{partition="2",instance="matcher-1"}': gauge(0.1, 12),
      'pm_matcher_tick_age_seconds{partition="3",instance="matcher-1"}': gauge(0.1, 0.2),
    },
    labels: { partition: '2' },
  },
  OutputsMissing: {
    series: { 'pm_matcher_partition_faults_total{partition="3",code="execution_gap"}': appears },
    labels: { partition: '3', code: 'execution_gap' },
    at: soon,
  },
  MoneyDoesNotAddUp: {
    series: { 'pm_solvency_breach_total{service="projectors"}': counter(1) },
    labels: { service: 'projectors' },
  },
  RecordsForged: {
    series: { 'pm_unproven_records_total{topic="transfers",reason="unknown_key"}': appears },
    labels: { topic: 'transfers', reason: 'unknown_key' },
    at: soon,
  },
  WithdrawalUnpaid: {
    series: { 'pm_withdrawals_unpaid_total{service="projectors"}': counter(1) },
    labels: { service: 'projectors' },
  },
  OperatorSilent: { series: { 'pm_operator_partitions_silent{service="operator"}': gauge(0, 8) } },
  ResolutionOverdue: { series: { 'pm_operator_resolutions_due{service="operator"}': gauge(0, 1) } },
  RedisNearlyFull: {
    series: {
      'pm_redis_memory_bytes{server="ledger"}': gauge(700, 850),
      'pm_redis_memory_max_bytes{server="ledger"}': gauge(1_000, 1_000),
      'pm_redis_memory_bytes{server="cache"}': gauge(850, 850),
      'pm_redis_memory_max_bytes{server="cache"}': gauge(0, 0),
    },
    labels: { server: 'ledger' },
  },
  RedisRemovesKeys: {
    series: { 'pm_redis_evicts{server="cache"}': gauge(0, 1) },
    labels: { server: 'cache' },
  },
  EngineAway: {
    series: {
      'pm_query_engine_up{engine="clickhouse"}': gauge(1, 0),
      'pm_query_engine_up{engine="redis"}': gauge(1, 1),
    },
    labels: { engine: 'clickhouse' },
  },
  ProjectionStandsStill: {
    series: {
      'pm_projector_lag_seconds{view="tables",partition="0"}': gauge(2, 45),
      'pm_projector_lag_seconds{view="books",partition="0"}': gauge(0, 0),
    },
    labels: { view: 'tables' },
  },
  ViewHalted: {
    series: {
      'pm_projector_partitions{view="ledger",phase="halted"}': gauge(0, 1),
      'pm_projector_partitions{view="ledger",phase="running"}': gauge(8, 7),
    },
    labels: { view: 'ledger' },
  },
  ReadersSeeOldData: {
    series: {
      'pm_query_complete_age_seconds{projection="tables"}': gauge(3, 90),
      // Computed every few minutes: their age is no alarm.
      'pm_query_complete_age_seconds{projection="leaderboards"}': gauge(90, 90),
    },
    labels: { projection: 'tables' },
  },
  StreamsDoNotFollow: {
    series: { 'pm_streams_fault_seconds{partition="2"}': gauge(0, 30) },
    labels: { partition: '2' },
  },
  ServiceUnreachable: {
    series: { 'pm_gateway_refused_total{target="ingress",reason="unreachable"}': counter(30) },
    labels: { target: 'ingress' },
  },
  RequestsFail: {
    series: {
      'pm_http_requests_total{service="gateway",route="/book",status="200"}': steady(900),
      'pm_http_requests_total{service="gateway",route="/order",status="503"}': counter(30),
      'pm_http_requests_total{service="ingress",route="/order",status="503"}': steady(30),
    },
  },
  OrdersSlow: {
    series: {
      'pm_http_request_seconds_bucket{service="gateway",method="POST",route="/order",le="0.1"}':
        counter(0),
      'pm_http_request_seconds_bucket{service="gateway",method="POST",route="/order",le="2"}':
        counter(10),
      'pm_http_request_seconds_bucket{service="gateway",method="POST",route="/order",le="+Inf"}':
        counter(10),
    },
  },
  RecordsRejected: {
    series: {
      'pm_matcher_rejected_records_total{partition="0",reason="OLD_SEQUENCE"}': counter(5),
    },
    labels: { reason: 'OLD_SEQUENCE' },
  },
  KeyUsedTwice: {
    series: { 'pm_ingress_foreign_envelopes_total{service="ingress"}': counter(1) },
    labels: { service: 'ingress' },
  },
  PartitionClockAhead: {
    series: { 'pm_matcher_clock_ahead_seconds{partition="2"}': gauge(0, 3_600) },
    labels: { partition: '2' },
  },
  ThreadPoolHangs: {
    series: { 'pm_matcher_signature_pool_late_total{instance="matcher-1"}': appears },
    labels: { instance: 'matcher-1' },
    at: soon,
  },
  OwnersOverlap: {
    series: { 'pm_matcher_claims_total{partition="3",ownership="elsewhere"}': counter(1) },
    labels: { partition: '3' },
  },
  SnapshotsFail: {
    series: { 'pm_matcher_snapshot_failures_total{partition="1",what="not_written"}': appears },
    labels: { partition: '1', what: 'not_written' },
    at: soon,
  },
  MatcherLags: {
    series: { 'pm_matcher_lag_seconds{partition="5"}': gauge(0.1, 4) },
    labels: { partition: '5' },
  },
  CheckpointsFail: {
    series: { 'pm_projector_checkpoints_total{outcome="failed"}': appears },
    labels: { outcome: 'failed' },
    at: soon,
  },
  InsertsRetried: { series: { pm_projector_insert_retries_total: counter(2) } },
  TablesHeld: { series: { 'pm_projector_held{partition="0"}': gauge(0, 1) } },
  CacheIncoherent: { series: { pm_query_cache_coherent: gauge(1, 0) } },
  RecordsSkipped: {
    series: { 'pm_streams_records_skipped_total{service="streams",topic="catalog"}': appears },
    labels: { service: 'streams', topic: 'catalog' },
    at: soon,
  },
  SessionCancelsLate: {
    series: {
      pm_ingress_session_end_seconds_count: steady(3),
      'pm_ingress_session_end_seconds_bucket{le="15"}': `0+3x${before - 1} ${3 * before}+2x${during - 1} ${3 * before + 2 * during}+3x${after - 1}`,
    },
  },
  WithdrawalsVoid: {
    series: { 'pm_withdrawals_void_total{service="projectors"}': counter(1) },
    labels: { service: 'projectors' },
  },
  RateLimitsAlone: {
    series: { 'pm_rate_counted_alone{service="ingress"}': gauge(0, 1) },
    labels: { service: 'ingress' },
  },
  IdempotencyKeysFull: {
    series: {
      'pm_ingress_retries_full_total{kind="order",of="all"}': appears,
      'pm_ingress_retries_full_total{kind="transfer",of="wallet"}': appears,
    },
    labels: { kind: 'order' },
    at: soon,
  },
  LedgerNotSynced: { series: { 'pm_redis_synced{server="ledger"}': gauge(1, 0) } },
  RequestsQueued: {
    series: { 'pm_gateway_requests_waiting{group="orders"}': gauge(0, 400) },
    labels: { group: 'orders' },
  },
  HeapNearlyFull: {
    series: {
      ...heapOf('streams', gauge(100, 350), flat(384, before + during + after)),
      ...heapOf(
        'query-api',
        flat(150, before + during + after),
        flat(192, before + during + after),
      ),
      'pm_held_entries{service="streams",instance="streams:1",what="markets"}': gauge(40, 900),
      'pm_held_entries{service="streams",instance="streams:1",what="wallets"}': gauge(10, 9_000),
    },
    labels: { service: 'streams', instance: 'streams:1', what: 'wallets' },
  },
  EventLoopBusy: {
    series: { 'nodejs_eventloop_lag_p99_seconds{service="matcher"}': gauge(0.01, 0.9) },
    labels: { service: 'matcher' },
  },
  StreamsLag: {
    series: { 'pm_streams_lag_seconds{partition="0"}': gauge(0.1, 9) },
    labels: { partition: '0' },
  },
  ReadersTooSlow: {
    series: { 'pm_streams_closed_total{reason="too_slow",code="4008"}': counter(30) },
  },
  CatalogNearlyFull: {
    series: { pm_operator_markets: gauge(700, 850), pm_operator_markets_max: gauge(1_000, 1_000) },
  },
  NoRoomForReaders: {
    series: { 'pm_streams_closed_total{reason="no_room",code="4029"}': counter(5) },
  },
  ResumesWait: { series: { pm_streams_replays_waiting: gauge(0, 12) } },
  StreamsRefuse: {
    series: { 'pm_streams_closed_total{reason="policy",code="1008"}': counter(30) },
  },
};
