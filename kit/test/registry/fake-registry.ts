import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Apicurio shows it for a subject that has schemas and no level of its own. */
const generalLevel = 'NONE';

/** A registry in a few lines: the calls our client makes, answered as Confluent's API says. */
export class FakeRegistry {
  readonly requests: string[] = [];
  readonly levels = new Map<string, string>();
  readonly schemas = new Map<number, string>();
  /** By subject; ids are taken in the mode IMPORT alone. */
  readonly modes = new Map<string, string>();
  /** Statuses to answer first, whatever is asked; 0 for a right answer. */
  readonly failures: number[] = [];
  /** Subjects whose new version is incompatible. */
  readonly incompatible = new Set<string>();
  authorization: string | null = null;
  readonly #ids = new Map<string, number>();
  readonly #subjects = new Map<string, Set<string>>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      const body = await textOf(request);
      this.authorization = request.headers.authorization ?? null;
      const [status, answer] = this.#answer(request, body);
      response.writeHead(status, { 'content-type': 'application/vnd.schemaregistry.v1+json' });
      response.end(JSON.stringify(answer));
    });
  }

  /** Its base, with a path as Apicurio has one, or with none, as Confluent's. */
  async start(path = '/apis/ccompat/v7'): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Stores a schema without a subject and gives its id. */
  store(schema: unknown): number {
    const text = typeof schema === 'string' ? schema : JSON.stringify(schema);
    const id = this.#ids.get(text) ?? this.#ids.size + 1;
    this.#ids.set(text, id);
    this.schemas.set(id, text);
    return id;
  }

  #answer(request: IncomingMessage, body: string): [number, unknown] {
    const path = decodeURIComponent((request.url ?? '').replace('/apis/ccompat/v7', ''));
    this.requests.push(`${request.method} ${path}`);
    const failure = this.failures.shift();
    if (failure !== undefined && failure !== 0)
      return [failure, { error_code: failure, message: 'set to fail' }];
    const [, kind, name = '', versions] = path.split('/');
    if (kind === 'mode') {
      this.modes.set(name.replace(/\?.*/, ''), JSON.parse(body).mode);
      return [200, {}];
    }
    if (kind === 'config') return this.#config(request.method ?? '', name, body);
    if (kind === 'subjects' && versions === undefined) return this.#lookUp(name, body);
    if (kind === 'subjects') return this.#register(name, body);
    const schema = this.schemas.get(Number(path.split('/')[3]));
    return schema === undefined ? [404, { error_code: 40403 }] : [200, { schema }];
  }

  #config(method: string, subject: string, body: string): [number, unknown] {
    if (method === 'PUT') this.levels.set(subject, JSON.parse(body).compatibility);
    const level = this.levels.get(subject);
    if (level !== undefined) return [200, { compatibilityLevel: level }];
    const hasGeneral = subject === '' || this.#subjects.has(subject);
    if (hasGeneral) return [200, { compatibilityLevel: generalLevel }];
    return [404, { error_code: 40408, message: 'no level' }];
  }

  #lookUp(subject: string, body: string): [number, unknown] {
    const { schema } = JSON.parse(body);
    if (!this.#subjects.get(subject)?.has(schema)) return [404, { error_code: 40403 }];
    return [200, { subject, version: 1, id: this.store(schema), schema }];
  }

  #register(subject: string, body: string): [number, unknown] {
    const schemas = this.#subjects.get(subject) ?? new Set();
    this.#subjects.set(subject, schemas);
    if (this.incompatible.has(subject)) return [409, { error_code: 409, message: 'incompatible' }];
    const { schema, id } = JSON.parse(body);
    schemas.add(schema);
    if (id === undefined || this.modes.get(subject) !== 'IMPORT')
      return [200, { id: this.store(schema) }];
    this.#ids.set(schema, id);
    this.schemas.set(id, schema);
    return [200, { id }];
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
