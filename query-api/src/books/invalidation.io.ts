import type { Log } from '@pm/kit/log';
import type { RedisClient } from '@pm/kit/redis';

/** The channel on which the server publishes invalidations, in RESP2 (redis.io, "Client-side caching"). */
const channel = '__redis__:invalidate';

/** How often the connection is pinged, and how long a pong may take. */
const pingEveryMs = 500;
const pongTimeoutMs = 1_500;

export interface InvalidationOptions {
  readonly redis: RedisClient;
  /** Changes of keys with this prefix are reported. */
  readonly prefix: string;
  readonly log: Log;
  /** Keys that changed; null when all may have. */
  onInvalidate(keys: readonly string[] | null): void;
  /** Whether invalidations arrive from now on. False comes first, then true as soon as they do. */
  onCoherent(isCoherent: boolean): void;
}

export interface InvalidationListener {
  /**
   * Resolves when every change that was made before the call has been reported, or none are reported any more. Rejects
   * when the connection ends meanwhile.
   */
  settle(): Promise<void>;
  /** Ends the connection; afterwards only the loss is reported. */
  close(): void;
}

/**
 * Has the server report every change of a book. One connection of its own both subscribes (CLIENT TRACKING with BCAST,
 * redirected to itself) and listens, so that the two share one lifetime. It speaks RESP2, since ioredis drops the
 * invalidation pushes of RESP3. Pings go the same way as invalidations: a pong says that all earlier ones have arrived;
 * without one in time the connection is given up, so that a silent one cannot keep old books alive. So is one whose
 * client of the reads has lost its server: after a failover they would hear of the changes of another one.
 */
export function followInvalidations(options: InvalidationOptions): InvalidationListener {
  const listener = options.redis.duplicate({
    protocol: 2,
    autoResubscribe: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: pongTimeoutMs,
  });
  // One that is on its way to another server is left alone: ioredis would not try again.
  const leave = () => {
    if (listener.status === 'ready') listener.disconnect(true);
  };
  let isCoherent = false;
  const report = (now: boolean): void => {
    if (now === isCoherent) return;
    isCoherent = now;
    options.log.info({ isCoherent }, 'invalidation of cached books');
    options.onCoherent(now);
  };
  // The client that it is a copy of logs what is wrong with the server.
  listener.on('error', () => {});
  listener.on('messageBuffer', (_channel: Buffer, keys: unknown) => {
    options.onInvalidate(Array.isArray(keys) ? keys.map(String) : null);
  });
  listener.on('close', () => report(false));
  listener.on('ready', () => {
    subscribe(listener, options.prefix).then(() => report(true), leave);
  });
  options.redis.on('close', leave);
  const timer = setInterval(() => {
    if (isCoherent) listener.ping().catch(leave);
  }, pingEveryMs);
  return {
    async settle() {
      if (isCoherent) await listener.ping();
    },
    close() {
      clearInterval(timer);
      options.redis.off('close', leave);
      listener.disconnect();
    },
  };
}

async function subscribe(listener: RedisClient, prefix: string): Promise<void> {
  const id = await listener.client('ID');
  await listener.call(
    'CLIENT',
    'TRACKING',
    'ON',
    'REDIRECT',
    String(id),
    'BCAST',
    'PREFIX',
    prefix,
  );
  await listener.subscribe(channel);
}
