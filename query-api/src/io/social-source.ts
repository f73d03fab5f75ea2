import { followTable } from '@pm/kit/compacted';
import type { Fault } from '@pm/kit/fault';
import type { LogClient } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { type Registry, topicName } from '@pm/kit/registry';
import { CommentThreads, topics } from '@pm/schemas';
import { Profiles } from '../core/social/profiles.ts';
import type { SocialReads } from '../routes/ports.ts';

/** Comments and profiles as the log says; resolves when all that were there are known. */
export async function followSocial(
  client: LogClient,
  options: {
    readonly registry: Registry;
    readonly topicPrefix: string;
    readonly log: Log;
    onFault(fault: Fault): void;
  },
): Promise<SocialReads> {
  const { registry, topicPrefix, log, onFault } = options;
  const threads = new CommentThreads();
  const profiles = new Profiles();
  await followTable(client, {
    ...{ log, onFault, topic: topicName(topics.comments, topicPrefix) },
    codec: await registry.codecFor(topics.comments),
    take: (event, { offset }) => threads.apply(offset, event),
  });
  await followTable(client, {
    ...{ log, onFault, topic: topicName(topics.profiles, topicPrefix) },
    codec: await registry.codecFor(topics.profiles),
    take: (profile) => profiles.apply(profile),
  });
  return { threads, profiles };
}
