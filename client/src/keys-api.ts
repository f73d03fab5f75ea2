import type { KeySettings } from '@pm/schemas/http/keys';
import type { ResponseOf } from '@pm/schemas/routes/routes';
import type { Connection } from './connection.ts';

/** One API key of the wallet, as its owner sees it. */
type KeyDetails = Extract<ResponseOf<'listApiKeys'>, readonly unknown[]>[number];

type BuilderKey = ResponseOf<'createBuilderKey'>;

/** Keys of the caller's wallet (conventions.md part 2.5). */
export class KeysApi {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Active and revoked ones. */
  list(): Promise<readonly KeyDetails[]> {
    return this.#connection.signed({
      method: 'GET',
      path: '/auth/api-keys',
      query: { metadata: 'true' },
    });
  }

  /** Revokes a key of the wallet; without one, that of this client. */
  async revoke(apiKey?: string): Promise<void> {
    await this.#connection.signed({ method: 'DELETE', path: '/auth/api-key', body: { apiKey } });
  }

  /** Self-trade prevention of the orders of this key. */
  settings(): Promise<KeySettings> {
    return this.#connection.signed({ method: 'GET', path: '/auth/api-key/settings' });
  }

  changeSettings(settings: KeySettings): Promise<KeySettings> {
    const path = '/auth/api-key/settings';
    return this.#connection.signed({ method: 'POST', path, body: settings });
  }

  /** A key for private reads only. Not repeated when its response is lost: see `readOnlyKeys`. */
  async createReadOnlyKey(): Promise<string> {
    const { apiKey } = await this.#connection.signed<ResponseOf<'createReadOnlyKey'>>(
      { method: 'POST', path: '/auth/readonly-api-key' },
      { repeatable: 'when nothing was done' },
    );
    return apiKey;
  }

  readOnlyKeys(): Promise<readonly string[]> {
    return this.#connection.signed({ method: 'GET', path: '/auth/readonly-api-keys' });
  }

  async revokeReadOnlyKey(key: string): Promise<void> {
    const path = '/auth/readonly-api-key';
    await this.#connection.signed({ method: 'DELETE', path, body: { key } });
  }

  /** A key that attributes orders; it grants no access. Not repeated when its response is lost. */
  createBuilderKey(): Promise<BuilderKey> {
    return this.#connection.signed(
      { method: 'POST', path: '/auth/builder-api-key' },
      { repeatable: 'when nothing was done' },
    );
  }

  async revokeBuilderKey(key: string): Promise<void> {
    const path = '/auth/builder-api-key';
    await this.#connection.signed({ method: 'DELETE', path, body: { key } });
  }

  /** Whether operators allow the wallet to close positions only. */
  async isClosedOnly(): Promise<boolean> {
    const path = '/auth/ban-status/closed-only';
    const answer = await this.#connection.signed<ResponseOf<'getClosedOnly'>>({
      method: 'GET',
      path,
    });
    return answer.closedOnly;
  }
}
