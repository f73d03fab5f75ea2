import { createHmac } from 'node:crypto';
import { type DerivedKey, deriveListed, type KeySecrets } from '@pm/domain/accounts/derive-keys';
import type { KeyDirectory } from '@pm/domain/accounts/key-directory';
import type { KeyHolder } from '@pm/domain/accounts/key-verifier';
import type { Clock } from '@pm/kit/clock';
import type { Log } from '@pm/kit/log';
import type { ApiKeyId } from '@pm/schemas/ids';
import { headers as names } from '@pm/schemas/signing';

/** The session of a key is kept alive until it is released. */
export interface KeepAlive {
  release(): void;
}

export type KeepAlives = Pick<SessionKeepAlives, 'hold'>;

export interface KeepAliveParts {
  /** Base URLs of the processes of ingress, one at least: any of them takes a heartbeat. */
  readonly ingressUrls: readonly string[];
  readonly keys: Pick<KeyDirectory, 'find'>;
  readonly secrets: KeySecrets;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Log;
}

const path = '/heartbeats';
/** Several heartbeats fit into the time after which a session is missed. */
const beatEveryMs = 2_500;
/** Several processes of ingress that stand still are passed before a session is missed. */
const beatTimeoutMs = 3_000;
/** Longest answer to a heartbeat that is looked into, characters. */
const answerCharsMax = 4_096;
/** Heartbeats of all keys that are on their way at once. */
const beatsAtOnce = 64;

/**
 * Cancel on disconnect: as long as a connection holds a key, this process sends the heartbeats of its session to
 * ingress, signed as the client would. When the last connection ends, or this process dies, they stop: ingress notices
 * the silence and cancels as after any missed heartbeat.
 */
export class SessionKeepAlives {
  readonly #parts: KeepAliveParts;
  /** The addresses of the connections that hold a key, one for each hold. */
  readonly #holds = new Map<ApiKeyId, string[]>();
  readonly #timer: NodeJS.Timeout;
  #isBeating = false;
  /** Counts the processes of ingress that failed: the next heartbeats go to the one after. */
  #failed = 0;

  constructor(parts: KeepAliveParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.#beatAll(), beatEveryMs);
  }

  /** Keys whose sessions are kept alive. */
  get size(): number {
    return this.#holds.size;
  }

  /** For a connection from this address. */
  hold({ apiKey }: KeyHolder, address: string): KeepAlive {
    this.#holds.set(apiKey, [...(this.#holds.get(apiKey) ?? []), address]);
    void this.#beat(apiKey);
    let isHeld = true;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        const held = this.#holds.get(apiKey) ?? [];
        const left = held.toSpliced(held.indexOf(address), 1);
        if (left.length > 0) this.#holds.set(apiKey, left);
        else this.#holds.delete(apiKey);
      },
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#holds.clear();
  }

  /** One round at a time. */
  async #beatAll(): Promise<void> {
    if (this.#isBeating) return;
    this.#isBeating = true;
    const due = [...this.#holds.keys()];
    const beatInTurn = async (): Promise<void> => {
      for (let next = due.pop(); next !== undefined; next = due.pop()) await this.#beat(next);
    };
    await Promise.all(Array.from({ length: beatsAtOnce }, beatInTurn));
    this.#isBeating = false;
  }

  /** One that fails at a process goes to the next. Where all fail there is a next heartbeat: sessions live on. */
  async #beat(apiKey: ApiKeyId): Promise<void> {
    const { keys, secrets, ingressUrls } = this.#parts;
    const listed = keys.find(apiKey);
    const address = this.#holds.get(apiKey)?.at(-1);
    if (listed?.active !== true || address === undefined) return;
    const key = deriveListed(secrets, listed);
    if (key === null) return;
    for (let tries = 0; tries < ingressUrls.length; tries += 1) {
      const failed = this.#failed;
      const url = ingressUrls[failed % ingressUrls.length] ?? '';
      if (await this.#beatAt(url, { key, wallet: listed.wallet, address })) return;
      // Heartbeats at the same time fail together, and move on by one.
      if (this.#failed === failed) this.#failed += 1;
    }
  }

  /**
   * False when this process of ingress did not take it, and another one may. Where the clocks of the two differ,
   * ingress says what time it has, and the heartbeat is sent again with that: no session ends because a clock was set.
   */
  async #beatAt(url: string, beat: Beat): Promise<boolean> {
    const { clock, log } = this.#parts;
    try {
      const first = await send(url, signed(beat, clock.nowMs()));
      const { serverMs } = first;
      const { status } = serverMs === null ? first : await send(url, signed(beat, serverMs));
      if (serverMs !== null) log.warn({ url, serverMs }, 'ingress has another time');
      if (status >= 400) log.warn({ status }, 'a heartbeat was refused');
      return status < 500;
    } catch (error) {
      log.warn({ err: error }, 'a heartbeat was not sent');
      return false;
    }
  }
}

interface Beat {
  readonly key: DerivedKey;
  readonly wallet: string;
  /** It counts for the client: the limit of one address would end the sessions of all. */
  readonly address: string;
}

function signed({ key, wallet, address }: Beat, nowMs: number): Record<string, string> {
  const { apiKey, secret, passphrase } = key;
  const timestamp = String(nowMs);
  const digest = createHmac('sha256', secret).update(`${timestamp}POST${path}`).digest('base64');
  return {
    [names.address]: wallet,
    [names.apiKey]: apiKey,
    [names.passphrase]: passphrase,
    [names.timestamp]: timestamp,
    [names.signature]: digest.replaceAll('+', '-').replaceAll('/', '_'),
    'x-forwarded-for': address,
  };
}

interface Sent {
  readonly status: number;
  /** Time of a server that refused because of the timestamp, Unix milliseconds; else null. */
  readonly serverMs: number | null;
}

async function send(url: string, headers: Record<string, string>): Promise<Sent> {
  const signal = AbortSignal.timeout(beatTimeoutMs);
  const response = await fetch(url + path, { method: 'POST', headers, signal });
  const text = await response.text();
  const isRefused = response.status === 401 && text.length <= answerCharsMax;
  return { status: response.status, serverMs: isRefused ? serverMsIn(text) : null };
}

/** Throws when it is no JSON. */
function serverMsIn(text: string): number | null {
  const body: unknown = JSON.parse(text);
  const serverMs =
    typeof body === 'object' && body !== null ? Reflect.get(body, 'server_time') : null;
  return Number.isSafeInteger(serverMs) ? serverMs : null;
}
