import type { ExecutionLog } from '@pm/domain/executions/execution-reader.io';
import type { OpenedPartitions } from '@pm/domain/signoff/first-envelope.io';
import type { LogClient } from '@pm/kit/kafka';
import type { Lifecycle } from '@pm/kit/lifecycle';
import type { Log } from '@pm/kit/log';
import { type Schemas, topicName } from '@pm/kit/registry';
import type { Traces } from '@pm/kit/traces';
import { projectorGroup, type Topic, topics } from '@pm/schemas/log/topics';
import type { CheckpointObjects } from './checkpoints/checkpoint-objects.io.ts';
import type { Checkpoints } from './checkpoints/read-checkpoints.io.ts';
import type { Config } from './config.ts';
import type { ViewProgress } from './log/progress.io.ts';
import { RunningView } from './log/running-view.io.ts';
import type { ViewDefinition } from './log/view-definition.io.ts';
import type { ProjectorMetrics } from './metrics.ts';

/** Dependencies shared by the views of this process. */
export interface Room {
  readonly config: Config;
  readonly life: Lifecycle;
  readonly log: Log;
  readonly metrics: ProjectorMetrics;
  readonly progress: ViewProgress;
  readonly client: LogClient & OpenedPartitions;
  readonly schemas: Schemas;
  /** Null while nothing is traced. */
  readonly traces: Traces | null;
  /** Null without a store. */
  readonly stored: StoredCheckpoints | null;
}

/** The store of checkpoints, and what it has of this log. */
export interface StoredCheckpoints {
  readonly objects: CheckpointObjects;
  readonly checkpoints: Checkpoints;
}

/** Starts a view; it is closed when the process stops. */
export async function startView(room: Room, view: ViewDefinition): Promise<RunningView> {
  const { client, progress, log, config, life } = room;
  const fail = (error: unknown) => life.fail(error);
  const host = { client, progress, log, instance: config.instance, fail };
  const running = await RunningView.start(host, view);
  life.onStop(view.view, () => running.close());
  return running;
}

/** The topic `executions` with a codec of its own. */
export async function executionLog(
  room: Omit<Room, 'stored'>,
  { checksChain }: Pick<ExecutionLog, 'checksChain'>,
): Promise<ExecutionLog> {
  const codec = await room.schemas.codecFor(topics.executions);
  return { client: room.client, codec, topic: topicNameOf(room, topics.executions), checksChain };
}

/** The name of a topic on the broker. */
export function topicNameOf({ config }: Pick<Room, 'config'>, topic: Topic): string {
  return topicName(topic, config.topicPrefix);
}

/** The consumer group of a view. */
export function groupOf({ config }: Room, view: string): string {
  return projectorGroup(config.topicPrefix, view);
}
