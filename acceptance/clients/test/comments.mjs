// Comments of every kind for published clients to read: with reactions, with replies, about an event and about a
// market.
import { ExchangeClient, walletFromPrivateKey } from '../../../client/dist/index.js';
import { baseUrl, eventually, keyAt, marketAt } from './exchange.mjs';

/** Public test accounts: the first comments, the second replies and likes. */
export const [authorIndex, readerIndex] = [4, 5];

async function clientAt(index) {
  const client = new ExchangeClient({ baseUrl, signer: walletFromPrivateKey(keyAt(index)) });
  await client.connect();
  return client;
}

const read = async (query) =>
  (await fetch(`${baseUrl}/comments?${new URLSearchParams(query)}`)).json();

/**
 * Writes them unless they are there, and waits until they are read. Resolves with what `GET /comments` asks for each.
 */
export async function writeComments(eventSlug) {
  const [{ id }] = await (await fetch(`${baseUrl}/events?slug=${eventSlug}`)).json();
  const parents = [
    { parent_entity_type: 'Event', parent_entity_id: id },
    { parent_entity_type: 'market', parent_entity_id: String(marketAt(0).market) },
  ];
  const [author, reader] = await Promise.all([authorIndex, readerIndex].map(clientAt));
  for (const parent of parents) {
    const named = (name) => ({
      ...parent,
      client_id: `${name}-${Object.values(parent).join('-')}`,
    });
    const top = await author.comments.write({ ...named('top'), body: 'It will.' });
    const below = { ...named('reply'), body: 'No.', parent_comment_id: top.id };
    const reply = await reader.comments.write(below);
    for (const comment of [top, reply]) await reader.comments.react(comment.id);
    const isSeen = (rows) =>
      rows.some((row) => row.id === top.id && row.replies.some((one) => one.reactionCount > 0));
    await eventually('the comment', () => read(parent), isSeen);
  }
  return parents;
}
