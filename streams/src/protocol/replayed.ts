import type { FeedChange } from '../feed/changes.ts';
import { ownMessage } from '../own/render-own.ts';
import type { Message, StreamKey } from './message.ts';
import { type Publication, type RenderFacts, renderChange } from './publication.ts';

/**
 * The message of a change that is sent again. In `best` and `markets` the newest state stands for all that were missed:
 * its `prev` is the last message that the client has, 0 where only a place in the log is known. Nothing is merged with
 * it: a replay waits for its reader, and what merging needs would be of this reader alone.
 */
export function renderReplayed(
  change: FeedChange,
  { key }: Publication,
  { facts, lastSeq }: { readonly facts: RenderFacts; readonly lastSeq: number | null },
): Message | null {
  const message = messageOf(change, key, { facts, lastSeq });
  return message === null ? null : { ...message, content: null };
}

function messageOf(
  change: FeedChange,
  key: StreamKey,
  { facts, lastSeq }: { readonly facts: RenderFacts; readonly lastSeq: number | null },
): Message | null {
  if (change.channel === 'own') return ownMessage(change, key, facts.catalog);
  const isState = change.channel === 'best' || change.channel === 'markets';
  const prev = isState ? (lastSeq ?? 0) : change.seq - 1;
  return renderChange(change, key, { facts, prev });
}
