import type { ResponseOf } from '@pm/schemas/routes/routes';
import type { Connection } from './connection.ts';

/** An agent as its owner and itself see it. */
type AgentView = ResponseOf<'getMe'>;

/** The one response that shows the agent's key. */
type AgentWithKey = ResponseOf<'createAgent'>;

/**
 * Agents of the caller's wallet (conventions.md 2.7). They live at the root: the client's base URL has no mount then.
 */
export class AgentsApi {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async list(): Promise<readonly AgentView[]> {
    const path = '/api/v1/agents';
    const { data } = await this.#connection.signed<ResponseOf<'listAgents'>>({
      method: 'GET',
      path,
    });
    return data;
  }

  /** Not repeated when its response is lost: there would be two agents. */
  create(name: string): Promise<AgentWithKey> {
    return this.#connection.signed(
      { method: 'POST', path: '/api/v1/agents', body: { name } },
      { repeatable: 'when nothing was done' },
    );
  }

  pause(id: string): Promise<AgentView> {
    return this.#connection.signed({ method: 'POST', path: `/api/v1/agents/${id}/pause` });
  }

  resume(id: string): Promise<AgentView> {
    return this.#connection.signed({ method: 'POST', path: `/api/v1/agents/${id}/resume` });
  }

  /** A new key; the old one ends. A repetition creates another one, so the one in the response counts. */
  rotate(id: string): Promise<AgentWithKey> {
    return this.#connection.signed({ method: 'POST', path: `/api/v1/agents/${id}/rotate` });
  }

  async remove(id: string): Promise<void> {
    await this.#connection.signed({ method: 'DELETE', path: `/api/v1/agents/${id}` });
  }

  /** The agent of this client's key. Throws `ExchangeError` 401 when the key is paused, rotated or deleted. */
  me(agentKey: string): Promise<AgentView> {
    const headers = { authorization: `Bearer ${agentKey}` };
    return this.#connection.send({ method: 'GET', path: '/api/v1/me', headers });
  }
}
