import type { CommentBody, CommentWritten, ProfileBody } from '@pm/schemas/http/comments';
import type { Connection } from './connection.ts';
import { randomId } from './platform.ts';

/** Comments and the profile of the caller (conventions.md 7.1). Reads are public: `client.read('/comments', …)`. */
export class CommentsApi {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Without a `client_id` of the caller's, a new one makes repeating safe. */
  write(comment: CommentBody): Promise<CommentWritten> {
    const body = { client_id: randomId(), ...comment };
    return this.#connection.signed({ method: 'POST', path: '/comments', body });
  }

  remove(id: string): Promise<CommentWritten> {
    return this.#connection.signed({ method: 'DELETE', path: `/comments/${id}` });
  }

  react(id: string): Promise<CommentWritten> {
    return this.#connection.signed({ method: 'POST', path: `/comments/${id}/reactions`, body: {} });
  }

  unreact(id: string): Promise<CommentWritten> {
    return this.#connection.signed({ method: 'DELETE', path: `/comments/${id}/reactions` });
  }

  report(id: string, reason?: string): Promise<CommentWritten> {
    const body = reason === undefined ? {} : { reason };
    return this.#connection.signed({ method: 'POST', path: `/comments/${id}/reports`, body });
  }

  /** Replaces the whole profile: omitted fields become empty. */
  async setProfile(profile: ProfileBody): Promise<void> {
    await this.#connection.signed({ method: 'PUT', path: '/profile', body: profile });
  }
}
