import type { Dashboard, Panel } from './dashboard.ts';
import { p99, rate } from './panel-queries.ts';
import { partitionPanels } from './partition-panels.ts';

const gateway = '{service="gateway"}';

const trading: readonly Panel[] = [
  {
    title: 'Requests by route',
    unit: 'reqps',
    description: 'At the gateway, as clients send them; the ten busiest routes.',
    queries: [
      {
        expr: `topk(10, sum by (method, route) (${rate(`pm_http_requests_total${gateway}`)}))`,
        legend: '{{method}} {{route}}',
      },
    ],
  },
  {
    title: 'Answers that are no success, by status',
    unit: 'reqps',
    description: '425: the partition is silent. 429: limits. 503: a service or an engine is away.',
    queries: [
      {
        expr: `sum by (status) (${rate('pm_http_requests_total{service="gateway",status=~"[45].."}')})`,
        legend: '{{status}}',
      },
    ],
  },
  {
    title: 'Duration of orders and cancels',
    unit: 's',
    description: 'At the gateway: half of the orders, and all but one in a hundred, by route.',
    queries: [
      {
        expr: p99(
          'pm_http_request_seconds',
          'method, route',
          '{service="gateway",route=~"/orders?"}',
        ),
        legend: 'p99 {{method}} {{route}}',
      },
      {
        expr: `histogram_quantile(0.5, sum by (le) (${rate('pm_http_request_seconds_bucket{service="gateway",method="POST",route="/order"}')}))`,
        legend: 'p50 POST /order',
      },
    ],
  },
  {
    title: 'Stages of a placement, p99',
    unit: 's',
    description: 'Inside ingress: check, signature, reservation, result of the log.',
    queries: [{ expr: p99('pm_ingress_stage_seconds', 'stage'), legend: '{{stage}}' }],
  },
  {
    title: 'Orders placed and refused',
    unit: 'ops',
    description: 'By status, and refused ones by code.',
    queries: [
      { expr: `sum by (status) (${rate('pm_ingress_placed_total')})`, legend: '{{status}}' },
      {
        expr: `topk(8, sum by (code) (${rate('pm_ingress_refused_total')}))`,
        legend: 'refused: {{code}}',
      },
    ],
  },
  {
    title: 'Fills and open orders',
    unit: 'short',
    description: 'Fills a second of all partitions, and orders in the books.',
    queries: [
      { expr: `sum(${rate('pm_matcher_fills_total')})`, legend: 'fills a second' },
      { expr: 'sum(pm_matcher_open_orders)', legend: 'open orders' },
    ],
  },
  {
    title: 'Queues of the gateway and of ingress',
    unit: 'short',
    description:
      'Requests that wait for a slot, signatures not checked, commands not durable or without a result.',
    queries: [
      { expr: 'sum by (group) (pm_gateway_requests_waiting)', legend: 'slots: {{group}}' },
      { expr: 'sum by (group) (pm_gateway_requests_running)', legend: 'running: {{group}}' },
      { expr: 'sum(pm_ingress_signatures_queued)', legend: 'signatures' },
      { expr: 'sum(pm_ingress_commands_queued)', legend: 'commands not durable' },
      { expr: 'sum(pm_ingress_commands_waiting)', legend: 'commands without a result' },
    ],
  },
  {
    title: 'Rate limits',
    unit: 'reqps',
    description:
      'Requests refused, by scope; connections ended and requests refused by what a client holds, by listener.',
    queries: [
      { expr: `sum by (scope) (${rate('pm_rate_limited_total')})`, legend: '{{scope}}' },
      {
        expr: `sum by (service, reason) (${rate('pm_http_shed_total')})`,
        legend: '{{service}} holds: {{reason}}',
      },
    ],
  },
  {
    title: 'Sessions',
    unit: 'short',
    description: 'Traders with heartbeats, and those whose orders are being canceled.',
    queries: [
      { expr: 'sum(pm_ingress_sessions_live)', legend: 'live' },
      { expr: 'sum(pm_ingress_sessions_ending)', legend: 'ending' },
    ],
  },
  {
    title: 'Processor time by service',
    unit: 'percentunit',
    description: 'Of one processor.',
    queries: [
      { expr: `sum by (service) (${rate('process_cpu_seconds_total')})`, legend: '{{service}}' },
    ],
  },
];

const freshness: readonly Panel[] = [
  {
    title: 'Age of what readers get',
    unit: 's',
    description: 'Age of the moment through which a projection is complete in all partitions.',
    queries: [
      {
        expr: 'max by (projection) (pm_query_complete_age_seconds)',
        legend: '{{projection}}',
      },
    ],
  },
  {
    title: 'Engines of query-api',
    unit: 'short',
    description: 'One while an engine answers.',
    queries: [{ expr: 'min by (engine) (pm_query_engine_up)', legend: '{{engine}}' }],
  },
  {
    title: 'Lag of projections',
    unit: 's',
    description: 'Age of the newest stored record, by view: the worst of its partitions.',
    queries: [{ expr: 'max by (view) (pm_projector_lag_seconds)', legend: '{{view}}' }],
  },
  {
    title: 'Records not projected',
    unit: 'short',
    description: 'By view, all partitions together.',
    queries: [{ expr: 'sum by (view) (pm_projector_lag_records)', legend: '{{view}}' }],
  },
  {
    title: 'Inserts',
    unit: 's',
    description:
      'Time of one batch into all tables, p99; retries a second; the guard that holds batches.',
    queries: [
      { expr: p99('pm_projector_insert_seconds', ''), legend: 'batch, p99' },
      { expr: `sum(${rate('pm_projector_insert_retries_total')})`, legend: 'retries a second' },
      { expr: 'max(pm_projector_held)', legend: 'held' },
    ],
  },
  {
    title: 'Rows inserted',
    unit: 'ops',
    description: 'By table.',
    queries: [{ expr: `sum by (table) (${rate('pm_projector_rows_total')})`, legend: '{{table}}' }],
  },
  {
    title: 'Lag of streams',
    unit: 's',
    description:
      'Age of the newest record taken, and time for which the log could not be followed.',
    queries: [
      { expr: 'max by (partition) (pm_streams_lag_seconds)', legend: 'lag {{partition}}' },
      { expr: 'max by (partition) (pm_streams_fault_seconds)', legend: 'fault {{partition}}' },
    ],
  },
  {
    title: 'Readers of streams',
    unit: 'short',
    description: 'Connections and subscriptions by dialect, resumes that wait.',
    queries: [
      { expr: 'sum by (dialect) (pm_streams_connections)', legend: 'connections {{dialect}}' },
      { expr: 'sum by (dialect) (pm_streams_subscriptions)', legend: 'subscriptions {{dialect}}' },
      { expr: 'sum(pm_streams_replays_waiting)', legend: 'resumes waiting' },
    ],
  },
  {
    title: 'Bytes that wait for readers',
    unit: 'bytes',
    description: 'Queues of slow readers, and memory that all readers count with.',
    queries: [
      { expr: 'sum(pm_streams_queued_bytes)', legend: 'queued' },
      { expr: 'sum(pm_streams_room_bytes)', legend: 'room' },
    ],
  },
  {
    title: 'Partitions of views by phase',
    unit: 'short',
    description: 'Restoring for long or halted: /status of the projectors names the fault.',
    queries: [
      {
        expr: 'sum by (view, phase) (pm_projector_partitions{phase!="running"})',
        legend: '{{view}} {{phase}}',
      },
    ],
  },
];

const money: readonly Panel[] = [
  {
    title: 'Breaches of solvency',
    unit: 'short',
    description:
      'Wallets below zero and markets that do not add up, since the start of the projectors: 0.',
    kind: 'stat',
    queries: [{ expr: 'sum(pm_solvency_breach_total)', legend: 'breaches' }],
  },
  {
    title: 'Withdrawals that are not paid',
    unit: 'short',
    description:
      'More than reserved (another writer), and void ones after a fence, since the start.',
    kind: 'stat',
    queries: [
      { expr: 'sum(pm_withdrawals_unpaid_total)', legend: 'unpaid' },
      { expr: 'sum(pm_withdrawals_void_total)', legend: 'void' },
    ],
  },
  {
    title: 'Forged records',
    unit: 'short',
    description: 'Records of sealed topics that changed nothing, in an hour.',
    queries: [
      {
        expr: 'sum by (topic, reason) (increase(pm_unproven_records_total[1h]))',
        legend: '{{topic}} {{reason}}',
      },
    ],
  },
  {
    title: 'Lag of the ledger',
    unit: 's',
    description: 'Age of the newest record that is in the ledger.',
    queries: [
      {
        expr: 'max by (partition) (pm_projector_lag_seconds{view="ledger"})',
        legend: 'partition {{partition}}',
      },
    ],
  },
  {
    title: 'Memory of Redis',
    unit: 'percentunit',
    description: 'Part of its limit, by server; 0.8 is an alarm.',
    queries: [
      {
        expr: 'max by (server) (pm_redis_memory_bytes) / (max by (server) (pm_redis_memory_max_bytes) > 0)',
        legend: '{{server}}',
      },
    ],
  },
  {
    title: 'Redis writes before it answers',
    unit: 'short',
    description: 'One where appendfsync is always; evicting servers lose proofs.',
    queries: [
      { expr: 'min by (server) (pm_redis_synced)', legend: 'synced {{server}}' },
      { expr: 'max by (server) (pm_redis_evicts)', legend: 'evicts {{server}}' },
    ],
  },
  {
    title: 'Reservations, p99',
    unit: 's',
    description: 'Time to reserve money for an order in Redis.',
    queries: [
      { expr: p99('pm_ingress_stage_seconds', '', '{stage="reserve"}'), legend: 'reserve' },
    ],
  },
  {
    title: 'Resolutions that are due',
    unit: 'short',
    description: 'Challenge window over, and not carried out.',
    queries: [{ expr: 'max(pm_operator_resolutions_due)', legend: 'due' }],
  },
  {
    title: 'Repeated requests',
    unit: 'ops',
    description: 'Proofs that were used before, proofs that could not be noted, keys without room.',
    queries: [
      { expr: `sum(${rate('pm_ingress_repeated_total')})`, legend: 'repeated' },
      { expr: `sum(${rate('pm_ingress_proofs_unnoted_total')})`, legend: 'not noted' },
      { expr: `sum by (of) (${rate('pm_ingress_retries_full_total')})`, legend: 'no room: {{of}}' },
    ],
  },
];

/** The dashboards of an exchange. */
export const dashboards: readonly Dashboard[] = [
  { name: 'trading', title: 'Exchange: trading', panels: trading },
  { name: 'partitions', title: 'Exchange: partitions', panels: partitionPanels },
  { name: 'freshness', title: 'Exchange: freshness', panels: freshness },
  { name: 'money', title: 'Exchange: money', panels: money },
];
