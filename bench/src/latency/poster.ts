import { Agent, request } from 'node:http';
import { signedHeaders } from '@pm/client';
import type { ApiKeyTrio } from '@pm/schemas/http/trading';

export interface Answer {
  /** HTTP status; 0 without a response. */
  readonly status: number;
  readonly body: string;
}

/** Timeout after which an order counts as `no answer`, milliseconds. */
const timeoutMs = 10_000;

type Key = ApiKeyTrio & { readonly address: string };

/** Sends orders over connections that stay open; HMAC at the time of sending. */
export class Poster {
  readonly #agent: Agent;
  readonly #base: URL;

  /** `localAddress`: the loopback address that requests come from, which the gateway reports to the services. */
  constructor(baseUrl: string, { localAddress }: { readonly localAddress?: string } = {}) {
    this.#base = new URL(baseUrl);
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 128,
      ...(localAddress && { localAddress }),
    });
  }

  post(key: Key, body: string, path: '/order' | '/orders' = '/order'): Promise<Answer> {
    return this.signed(key, { method: 'POST', path, body });
  }

  /** Any request with a body. */
  signed(
    key: Key,
    sent: { readonly method: 'POST' | 'DELETE'; readonly path: string; readonly body: string },
  ): Promise<Answer> {
    return this.#send({ ...sent, headers: signedHeaders(key, sent, Date.now()) });
  }

  /** A read that belongs to the key; the query is not signed. */
  get(key: Key, path: string, query: string): Promise<Answer> {
    const headers = signedHeaders(key, { method: 'GET', path, body: '' }, Date.now());
    return this.#send({ method: 'GET', path: path + query, headers, body: '' });
  }

  /** A public read. */
  read(path: string): Promise<Answer> {
    return this.#send({ method: 'GET', path, headers: {}, body: '' });
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(sent: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }): Promise<Answer> {
    const { hostname, port } = this.#base;
    const { method, path, body } = sent;
    const headers = {
      ...sent.headers,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    };
    return new Promise((resolve) => {
      const options = { agent: this.#agent, hostname, port, method, path, headers };
      const asked = request(options, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
        response.on('error', (error) => resolve({ status: 0, body: error.message }));
      });
      asked.setTimeout(timeoutMs, () => asked.destroy(new Error('no answer in time')));
      asked.on('error', (error) => resolve({ status: 0, body: error.message }));
      asked.end(body);
    });
  }
}
