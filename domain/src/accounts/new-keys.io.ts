import type { HttpApp } from '@pm/kit/http';
import { type FollowedTopic, type LogClient, NewestRecords } from '@pm/kit/kafka';
import { parseApiKeyId } from '@pm/schemas/ids';
import { headers as names } from '@pm/schemas/signing';
import type { AgentDirectory } from './agent-directory.ts';
import { bearerKey } from './agent-key.ts';
import { headerText, type RawHeaders } from './auth-headers.ts';
import type { KeyDirectory } from './key-directory.ts';
import { hashOfKey } from './key-hash.ts';
import type { ReadKeyDirectory } from './read-key-directory.ts';

/** The keys that this process knows. */
interface KnownKeys {
  readonly keys: Pick<KeyDirectory, 'find'>;
  readonly readKeys: Pick<ReadKeyDirectory, 'find'>;
  readonly agents: Pick<AgentDirectory, 'findByKey'>;
}

export interface NewKeys {
  readonly known: KnownKeys;
  /** Resolves when the keys that were given out before the call are known, if that can be had; never rejects. */
  settle(): Promise<unknown>;
}

/** The keys on topics that this process follows. */
export async function openNewKeys(
  client: Pick<LogClient, 'admin'>,
  known: KnownKeys,
  followed: readonly FollowedTopic[],
): Promise<NewKeys> {
  const newest = new NewestRecords(await client.admin(), followed);
  return { known, settle: () => newest.settle() };
}

/**
 * Lets a request with a key that this process does not know wait until it has read the newest keys: another process has
 * perhaps just given the key out. Requests with known keys, whatever they prove, do not wait. Call it before routes are
 * added, so that limits and routes find the key.
 */
export function awaitNewKeys(app: HttpApp, { known, settle }: NewKeys): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (namesUnknownKey(request.headers, known)) settle().then(() => done(), done);
    else done();
  });
}

/** Whether a request names a well-formed key that is not known. */
function namesUnknownKey(raw: RawHeaders, { keys, readKeys, agents }: KnownKeys): boolean {
  for (const name of [names.apiKey, names.builderApiKey]) {
    const apiKey = parseApiKeyId(headerText(raw, name));
    if (apiKey !== null && keys.find(apiKey) === undefined) return true;
  }
  const readKey = parseApiKeyId(headerText(raw, names.readOnlyKey));
  if (readKey !== null && readKeys.find(readKey) === undefined) return true;
  const agentKey = bearerKey(raw);
  return agentKey !== null && agents.findByKey(hashOfKey(agentKey)) === undefined;
}
