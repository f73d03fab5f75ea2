import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, type RedisOptions } from 'ioredis';

/**
 * Connects to one address and takes only a primary for ready, as ioredis does itself where it asks Sentinels. An
 * address that leads to a demoted server is tried again with growing waits, until it leads to the primary. ioredis
 * makes one for each client, and for each duplicate of it.
 */
export class PrimaryConnector extends AbstractConnector {
  readonly #options: RedisOptions;

  constructor(options: unknown) {
    super((options as RedisOptions).disconnectTimeout ?? 0);
    this.#options = options as RedisOptions;
  }

  /** `role` is absent where the account may not ask for it. */
  override check({ role }: { readonly role?: string }): boolean {
    return role === undefined || role === 'master';
  }

  override async connect(): ReturnType<AbstractConnector['connect']> {
    this.connecting = true;
    const { host = 'localhost', port = 6_379, family, tls } = this.#options;
    const place = { host, port, ...(family === undefined ? {} : { family }) };
    const stream = tls ? connectTls({ ...place, ...tls }) : connectTcp(place);
    stream.once('error', (error) => {
      this.firstError = error;
    });
    this.stream = stream;
    return stream;
  }
}
