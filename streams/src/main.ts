import { getHeapStatistics } from 'node:v8';
import {
  type KeyHolder,
  openCredentialsVerifier,
  openKeyVerifier,
} from '@pm/domain/accounts/key-verifier';
import { openSealedLog } from '@pm/domain/authority/sealed-log.io';
import { countUnproven } from '@pm/domain/authority/unproven-records.io';
import { allWallets } from '@pm/domain/reading/caller-wallets';
import {
  FollowedTopics,
  type FollowOptions,
  follow,
  followTopics,
} from '@pm/domain/reading/followed-topics.io';
import type { OpenedPartitions } from '@pm/domain/signoff/first-envelope.io';
import { wireProgress } from '@pm/domain/status/progress';
import { tracedReader } from '@pm/domain/traces/traced-reader.io';
import { systemClock } from '@pm/kit/clock';
import { freshnessIn, kafkaConnection, keySecretsIn } from '@pm/kit/config';
import { kafkaProbe } from '@pm/kit/engines';
import type { Fault } from '@pm/kit/fault';
import { countShed } from '@pm/kit/http';
import { type LogClient, openWatchedLog, type WatchedLog } from '@pm/kit/kafka';
import { type Lifecycle, type Operations, runService } from '@pm/kit/lifecycle';
import { type Log, openLog } from '@pm/kit/log';
import { type Metrics, measureHeld, openMetrics } from '@pm/kit/metrics';
import { Schemas, topicName } from '@pm/kit/registry';
import { newSpanId, openTraces, type Traces } from '@pm/kit/traces';
import type { WalletAddress } from '@pm/schemas/ids';
import { topics } from '@pm/schemas/log/topics';
import { CommentFeed } from './comments/comment-feed.ts';
import { readStreamsConfig, type StreamsConfig } from './config.ts';
import { FamilyHub } from './family/family-hub.io.ts';
import { Feed } from './feed/feed.io.ts';
import { measureStreams, type StreamsMetrics } from './metrics.ts';
import { followTransfers, openStoredTransfers } from './own/follow-transfers.io.ts';
import { SessionKeepAlives } from './own/keep-alive.io.ts';
import { OwnStates } from './own/own-states.ts';
import type { StoredTransfers } from './own/stored-transfers.io.ts';
import { ConnectionCounts } from './protocol/connection-counts.ts';
import { ConnectionMemoryBudget, readerBounds } from './protocol/connection-memory-budget.ts';
import { ReplayPlaces } from './protocol/replay-places.ts';
import { StartScheduler } from './protocol/start-scheduler.io.ts';
import { type HubParts, StreamHub } from './protocol/stream-hub.io.ts';
import { StreamListener } from './protocol/stream-listener.io.ts';
import { QueuedTotal } from './protocol/stream-writer.io.ts';
import { reasonsOf, servesSome } from './readiness.ts';

const name = 'streams';

const nowMs = (): number => systemClock.nowMs();

/** The connections of one dialect. */
type Hub = Pick<StreamHub, 'connections' | 'subscriptions' | 'messages'>;
/** By dialect; none before the service listens. */
type Hubs = Readonly<Record<string, Hub>>;

const sumOf = (hubs: Hubs, name: keyof Hub): number =>
  Object.values(hubs).reduce((sum, hub) => sum + hub[name], 0);

/** Gauges with labels are set so often, milliseconds. */
const observeEveryMs = 1_000;

/** Dependencies shared by the constructors below. */
interface Shared {
  readonly life: Lifecycle;
  readonly operations: Operations;
  readonly config: StreamsConfig;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly connections: WatchedLog;
  readonly client: LogClient & OpenedPartitions;
  readonly schemas: Schemas;
  /** Null while nothing is traced. */
  readonly traces: Traces | null;
}

async function start(life: Lifecycle): Promise<void> {
  const shared = await openShared(life);
  const followed = new FollowedTopics();
  const comments = new CommentFeed(followed.threads, followed.catalog);
  followed.comments = comments;
  const feed = openFeed(shared);
  const readers = openReaders(shared.log);
  let hubs: Hubs = {};
  const measured = measureStreams(shared.metrics, {
    ...readers,
    hubs: () => hubs,
    partitions: () => feed.partitions(),
    nowMs,
  });
  measureHeld(shared.metrics, () => ({ ...feed.counts(), api_keys: followed.keys.size }));
  const observing = setInterval(() => measured.observe(), observeEveryMs);
  life.onStop('observing', async () => clearInterval(observing));
  report(shared, feed, { hubs: () => hubs, queued: readers.queued });
  feed.start();
  life.onStop('feed', () => feed.close());
  const follows = {
    client: shared.client,
    schemas: shared.schemas,
    log: shared.log,
    topicPrefix: shared.config.topicPrefix,
    onFault: (fault: Fault) => life.fail(fault),
    onSkip: measured.skipped,
  };
  const stored = await openStoredTransfers(shared.config.stateDir, follows);
  const ownStates = new OwnStates(stored.totals);
  await Promise.all([followTopics(followed, follows), followOwnStates(ownStates, stored, follows)]);
  followed.catalog.settle();
  hubs = await listen(shared, { feed, followed, measured, comments, ownStates, readers });
}

/** Resolves when all transfers and sessions that were there at the call are known. */
async function followOwnStates(
  ownStates: OwnStates,
  stored: StoredTransfers,
  options: FollowOptions,
): Promise<void> {
  await Promise.all([
    followTransfers(ownStates, stored, options),
    follow(options, topics.sessions, {
      unreadable: 'stop',
      take: (record) => ownStates.takeSession(record),
    }),
  ]);
}

/** Configuration, logging, metrics and clients of the process. */
async function openShared(life: Lifecycle): Promise<Shared> {
  const config = readStreamsConfig();
  const log = openLog(name, config.logLevel);
  life.useLog(log);
  const executions = topicName(topics.executions, config.topicPrefix);
  life.needs({ ...config, engines: [kafkaProbe(config, [executions])] });
  const metrics = openMetrics(name);
  const operations = await life.operations({ ...config, metrics });
  const traces = await openTraces(config, { service: name, metrics, life });
  const { topicPrefix } = config;
  const schemas = new Schemas();
  const { monotonicMs } = systemClock;
  const kafka = { ...kafkaConnection(config), clientId: name };
  const connections = openWatchedLog({ ...kafka, log, metrics, monotonicMs });
  // Registered before the first wait: a start that fails leaves nothing open.
  life.onStop('log connections', () => connections.close());
  const client = await openSealedLog({
    client: connections,
    schemas,
    topicPrefix,
    rootKey: Buffer.from(config.rootKey, 'hex'),
    sealing: [],
    log,
    onUnproven: countUnproven(metrics, log, systemClock.monotonicMs),
    onFault: (fault) => life.fail(fault),
  });
  life.onStop('log client', () => client.close());
  return { life, operations, config, log, metrics, connections, client, schemas, traces };
}

function openFeed({ config, client, schemas, log, traces }: Shared): Feed {
  const codec = schemas.readerFor(topics.executions);
  const topic = topicName(topics.executions, config.topicPrefix);
  return new Feed({
    executions: { client, codec, topic },
    opened: client,
    ...tracedReader(traces, 'streams', newSpanId()),
    directory: config.stateDir,
    saves: { everyRecords: config.saveRecords, everyMs: config.saveMs },
    clock: systemClock,
    log,
  });
}

function report(
  { operations, connections }: Shared,
  feed: Feed,
  { hubs, queued }: { hubs: () => Hubs; queued: QueuedTotal },
): void {
  const facts = () => ({
    isListening: Object.keys(hubs()).length > 0,
    partitions: feed.partitions(),
    notFollowed: connections.notReady(),
  });
  operations.report({
    status: () => ({
      connections: sumOf(hubs(), 'connections'),
      subscriptions: sumOf(hubs(), 'subscriptions'),
      queuedBytes: queued.bytes,
      held: feed.counts(),
      partitions: feed.partitions(),
      ...completeness(feed),
    }),
    ready: () => {
      const reasons = reasonsOf(facts());
      return { ready: reasons.length === 0, reasons };
    },
    serving: () => ({ serving: servesSome(facts()), reasons: reasonsOf(facts()) }),
  });
}

/** How far the streams have taken the log, in the form of GET /status of query-api; offsets are those of inputs. */
function completeness(feed: Feed): object {
  const statuses = feed.partitions();
  const partitions = statuses.map(({ partition, offset, timeMs, isCaughtUp }) => ({
    partition,
    offset: offset + 1,
    momentMs: isCaughtUp ? timeMs : null,
  }));
  const ends = new Map(
    statuses.map(({ partition, offset, lagRecords }) => [partition, offset + 1 + lagRecords]),
  );
  return wireProgress({ ends, projections: [{ projection: 'streams', partitions }] });
}

/** State in memory that connections read. */
interface Memory {
  readonly feed: Feed;
  readonly followed: FollowedTopics;
  readonly measured: StreamsMetrics;
  readonly comments: CommentFeed;
  readonly ownStates: OwnStates;
  readonly readers: Readers;
}

/** Limits and queues that the connections of all dialects share. */
type Readers = Pick<HubParts, 'counts' | 'openings' | 'places' | 'room'> & {
  readonly queued: QueuedTotal;
};

function openReaders(log: Log): Readers {
  const { roomBytes, queuesBytes } = readerBounds(getHeapStatistics().heap_size_limit);
  const room = new ConnectionMemoryBudget(roomBytes);
  return {
    room,
    counts: new ConnectionCounts(room),
    openings: new StartScheduler(systemClock, log),
    places: new ReplayPlaces(),
    queued: new QueuedTotal(queuesBytes),
  };
}

async function listen(shared: Shared, memory: Memory): Promise<Hubs> {
  const { life, config, log } = shared;
  const { trustedProxies, connectionsPerAddress } = config;
  const own = openOwnHub(shared, memory);
  const family = openFamilyHub(shared, memory);
  const { counts } = memory.readers;
  const compresses = config.compression === 'on';
  const take = { own: own.add.bind(own), family: family.add.bind(family) };
  const clock = systemClock;
  const onRefused = memory.measured.closed;
  const onShed = countShed(shared.metrics);
  const bounds = { trustedProxies, connectionsPerAddress, counts, onRefused, onShed };
  const listener = new StreamListener({ ...bounds, clock, log, compresses, take });
  life.onStop('listener', () => listener.close());
  await listener.listen(config.host, config.httpPort);
  // Closed before the listener, so that every client gets its positions; and after it has stopped to accept, so that
  // no client comes back here.
  life.onStop('connections', async () => {
    listener.refuse();
    await life.letLeave([...own.leaving(), ...family.leaving()]);
    own.close();
    family.close();
  });
  return { v1: own, family };
}

function openOwnHub(
  { life, config, log }: Shared,
  { feed, followed, measured, comments, ownStates, readers }: Memory,
): StreamHub {
  const { keys, catalog, profiles } = followed;
  const ingressUrls = config.ingressUrls.map((url) => url.replace(/\/+$/, ''));
  const secrets = keySecretsIn(config);
  const clock = systemClock;
  const keepAlives = new SessionKeepAlives({ ingressUrls, keys, secrets, clock, log });
  life.onStop('keep-alives', () => keepAlives.close());
  const freshness = freshnessIn(config);
  return new StreamHub({
    feed,
    facts: { catalog, profiles, secret: config.bookSecret },
    comments,
    ownStates,
    ...readers,
    resumed: measured.resumed,
    verify: openKeyVerifier({ keys, secrets, freshness, nowMs }),
    isActive: ({ apiKey }: KeyHolder) => keys.find(apiKey)?.active === true,
    keepAlives,
    clock,
    log,
    onClosed: measured.closed,
  });
}

function openFamilyHub(
  { config, log }: Shared,
  { feed, followed, measured, readers }: Memory,
): FamilyHub {
  const { keys, catalog, profiles, wallets } = followed;
  const parts = {
    feed,
    catalog,
    profiles,
    ...readers,
    verifyCredentials: openCredentialsVerifier({ keys, secrets: keySecretsIn(config) }),
    isActive: ({ apiKey }: KeyHolder) => keys.find(apiKey)?.active === true,
    walletsOf: (wallet: WalletAddress) => allWallets(wallets.of(wallet)),
    keysOf: (wallet: WalletAddress) => keys.keysOf(wallet),
    listenToComments: followed.listenToComments.bind(followed),
    clock: systemClock,
    log,
  };
  return new FamilyHub(parts, measured.closed);
}

await runService(name, start);
