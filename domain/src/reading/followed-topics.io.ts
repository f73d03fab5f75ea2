import { type CompactedOptions, followTable } from '@pm/kit/compacted';
import type { Fault } from '@pm/kit/fault';
import type { HttpApp } from '@pm/kit/http';
import type { FollowedTopic, LogClient, LogReader } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { type Schemas, topicName } from '@pm/kit/registry';
import type { AvroSchema, Infer } from '@pm/schemas/avro/schema';
import { parseApiKeyId, walletFromBytes } from '@pm/schemas/ids';
import type { CommentEvent } from '@pm/schemas/log/comments';
import { type Topic, topics } from '@pm/schemas/log/topics';
import { AgentDirectory } from '../accounts/agent-directory.ts';
import { KeyDirectory } from '../accounts/key-directory.ts';
import { awaitNewKeys, openNewKeys } from '../accounts/new-keys.io.ts';
import { ReadKeyDirectory } from '../accounts/read-key-directory.ts';
import { CommentThreads, commentIdAt, type HeldComment } from '../comments/threads.ts';
import { Catalog } from '../markets/catalog.ts';
import { DeletedNotifications } from '../social/notifications.ts';
import { Profiles } from '../social/profiles.ts';
import { SolvencyFacts } from '../status/solvency.ts';
import { CallerWallets } from './caller-wallets.ts';

/** Views of the compacted topics, folded as their records come. */
export class FollowedTopics {
  readonly catalog = new Catalog();
  readonly keys = new KeyDirectory();
  readonly readKeys = new ReadKeyDirectory();
  readonly agents = new AgentDirectory();
  /** The topics of keys, read-only keys and agents. */
  readonly keyTopics: FollowedTopic[] = [];
  readonly wallets = new CallerWallets();
  readonly deleted = new DeletedNotifications();
  readonly threads = new CommentThreads();
  /** Takes the records of comments into the threads; the streams report each of them besides. */
  comments: Pick<CommentThreads, 'apply'> = this.threads;
  readonly #commentListeners = new Set<(comment: HeldComment) => void>();
  readonly profiles = new Profiles();
  readonly solvency = new SolvencyFacts();

  /** Calls the function for each comment that is written from now on; returns what ends that. */
  listenToComments(take: (comment: HeldComment) => void): () => void {
    this.#commentListeners.add(take);
    return () => {
      this.#commentListeners.delete(take);
    };
  }

  /** Takes the next record of the topic `comments`. */
  takeComment(offset: number, event: CommentEvent): void {
    this.comments.apply(offset, event);
    if (event.kind !== 'CommentPosted') return;
    const comment = this.threads.find(commentIdAt(offset));
    if (comment === undefined || !comment.isShown) return;
    for (const take of this.#commentListeners) take(comment);
  }
}

export interface FollowOptions {
  readonly client: LogClient;
  readonly schemas: Schemas;
  readonly topicPrefix: string;
  readonly log: Log;
  onFault(fault: Fault): void;
  /** A record of this topic could not be read and was left out. */
  onSkip(topic: string): void;
}

type Fold<T> = Pick<CompactedOptions<T>, 'take' | 'forget' | 'from' | 'unreadable'>;

/** Resolves once all views have caught up with the log: nothing is served from half a catalog. */
export async function followTopics(known: FollowedTopics, options: FollowOptions): Promise<void> {
  const { catalog, keys, readKeys, agents, wallets, deleted, profiles, solvency } = known;
  // A comment belongs to the event of its market.
  const afterCatalog = async () => {
    await follow(options, topics.catalog, {
      take: (entry) => catalog.apply(entry),
      forget: (key) => catalog.remove(key),
    });
    await follow(options, topics.comments, {
      take: (event, { offset }) => known.takeComment(offset, event),
    });
  };
  const followKeys = async <const S extends AvroSchema>(topic: Topic<S>, fold: Fold<Infer<S>>) => {
    const reader = await follow(options, topic, fold);
    known.keyTopics.push({ topic: topicName(topic, options.topicPrefix), reader });
  };
  await Promise.all([
    afterCatalog(),
    followKeys(topics.credentials, {
      take: (credential) => {
        keys.apply(credential);
        wallets.prove(walletFromBytes(credential.wallet));
      },
      forget: (key) => {
        const apiKey = parseApiKeyId(key);
        if (apiKey !== null) keys.forget(apiKey);
      },
    }),
    follow(options, topics.walletOwners, {
      unreadable: 'stop',
      take: (record) => wallets.take(record),
    }),
    follow(options, topics.notificationMarks, { take: (mark) => deleted.apply(mark) }),
    followKeys(topics.readKeys, { take: (key) => readKeys.apply(key) }),
    followKeys(topics.agents, { take: (entry) => agents.apply(entry) }),
    follow(options, topics.profiles, { take: (profile) => profiles.apply(profile) }),
    follow(options, topics.withdrawalFreezes, { take: (freeze) => solvency.take(freeze) }),
  ]);
}

/** Keys that ingress has just given out work at this app at once. Call it before routes are added. */
export async function findNewKeys(
  app: HttpApp,
  client: LogClient,
  followed: FollowedTopics,
): Promise<void> {
  awaitNewKeys(app, await openNewKeys(client, followed, followed.keyTopics));
}

/** Follows one topic with the options of all. */
export async function follow<const S extends AvroSchema>(
  { client, schemas, topicPrefix, log, onFault, onSkip }: FollowOptions,
  topic: Topic<S>,
  fold: Fold<Infer<S>>,
): Promise<LogReader> {
  return await followTable(client, {
    log,
    onFault,
    ...fold,
    topic: topicName(topic, topicPrefix),
    codec: schemas.readerFor(topic),
    onSkip: () => onSkip(topic.name),
  });
}
