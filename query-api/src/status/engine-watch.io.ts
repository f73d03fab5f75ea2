import type { ClickHouse } from '@pm/kit/clickhouse';
import type { RedisClient } from '@pm/kit/redis';

/** Whether the engines answered the last ping. */
export interface EngineWatch {
  redisUp(): boolean;
  clickhouseUp(): boolean;
  close(): void;
}

const askEveryMs = 2_000;

/** Pings both engines in rounds; while a ping is open no other is sent. */
export function watchEngines({
  redis,
  clickhouse,
}: {
  readonly redis: Pick<RedisClient, 'ping'>;
  readonly clickhouse: Pick<ClickHouse, 'ping'>;
}): EngineWatch {
  const redisWatch = new Watch(async () => (await redis.ping()) === 'PONG');
  const clickhouseWatch = new Watch(() => clickhouse.ping());
  return {
    redisUp: () => redisWatch.isUp,
    clickhouseUp: () => clickhouseWatch.isUp,
    close() {
      redisWatch.close();
      clickhouseWatch.close();
    },
  };
}

class Watch {
  isUp = false;
  #isAsking = false;
  readonly #timer: NodeJS.Timeout;
  readonly #ask: () => Promise<boolean>;

  constructor(ask: () => Promise<boolean>) {
    this.#ask = ask;
    this.#timer = setInterval(() => void this.#poll(), askEveryMs);
    void this.#poll();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #poll(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      this.isUp = await this.#ask();
    } catch {
      this.isUp = false;
    } finally {
      this.#isAsking = false;
    }
  }
}
