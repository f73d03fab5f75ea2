import type { Admin } from 'kafkajs';
import { Fault } from '../fault/index.ts';
import { failureOf, isAnswer } from './kafkajs-errors.ts';
import {
  configOf,
  creationOf,
  differencesOf,
  isAllowed,
  isCompactedByMistake,
  isRestorable,
  minInSyncName,
  policyName,
  retentionName,
  settingRefusals,
  type TopicDifference,
  type TopicSpec,
  topicDiffers,
  topicSettings,
  uncleanName,
} from './topic-spec.ts';
import { pause } from './waiting.io.ts';

/** By these a topic keeps what was acknowledged. */
export interface TopicDurability {
  /** Copies of the partition that has the fewest. */
  readonly copies: number;
  /** Copies that must have a record before it is acknowledged; null where the broker may leave that out and does. */
  readonly minInSync: number | null;
  /** A leader may lack acknowledged records; null likewise. */
  readonly electsUnclean: boolean | null;
}

/** Looks at a setting that was changed, and the wait between two. */
const changeLooks = 100;
const changeLookMs = 50;
/** `ConfigSource.TOPIC_CONFIG`: a setting of the topic itself. */
const ownSource = 1;

interface Creation {
  readonly settings: readonly string[];
  readonly validateOnly: boolean;
}

/** Topics by their properties, over a connection of others. */
export class TopicAdmin {
  readonly #admin: Admin;
  readonly #hidden: readonly string[];

  /** `hidden`: settings that the brokers may leave out. */
  constructor(admin: Admin, hidden: readonly string[]) {
    this.#admin = admin;
    this.#hidden = hidden;
  }

  /** A broker that does not know a setting ignores it or refuses it: then the topic is made without. */
  async createMissing(topics: readonly TopicSpec[]): Promise<void> {
    const create = async (settings: readonly string[]) => {
      const existing = new Set(await this.#admin.listTopics());
      const missing = topics.filter(({ name }) => !existing.has(name));
      return missing.length === 0
        ? null
        : await this.#create(missing, { settings, validateOnly: false });
    };
    const refused = await create(topicSettings);
    const shown = topicSettings.filter((name) => !this.#hidden.includes(name));
    const isOfSettings = refused !== null && settingRefusals.includes(refused.answer);
    const isWorthAnother = isOfSettings && shown.length < topicSettings.length;
    const left = isWorthAnother ? await create(shown) : refused;
    if (left !== null) throw new Fault('topic_refused', 'stop', { facts: { ...left } });
  }

  /** The settings that the brokers leave out, and may. Throws `topic_differs` (stop). */
  async hiddenOf(topics: readonly TopicSpec[]): Promise<readonly string[]> {
    const hidden = new Set<string>();
    for (const topic of topics)
      for (const difference of await this.#compare(topic)) {
        if (!isAllowed(difference, this.#hidden)) throw topicDiffers(difference);
        hidden.add(difference.field);
      }
    return [...hidden];
  }

  /** See `LogAdmin.differences`. */
  async differences(
    topics: readonly TopicSpec[],
  ): Promise<ReadonlyMap<string, readonly TopicDifference[]>> {
    const existing = new Set(await this.#admin.listTopics());
    const found = topics.filter(({ name }) => existing.has(name));
    const compared = found.map(async (spec) => [spec.name, await this.#compare(spec)] as const);
    return new Map(await Promise.all(compared));
  }

  /** See `LogAdmin.refusedCreations`. */
  async refusedCreations(
    topics: readonly TopicSpec[],
    settings: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const refused = new Map<string, string>();
    for (const spec of topics) {
      const found = await this.#create([spec], { settings, validateOnly: true });
      if (found !== null) refused.set(spec.name, found.answer);
    }
    return refused;
  }

  /** See `LogAdmin.shownSettings`. */
  async shownSettings(): Promise<readonly string[] | null> {
    const [topic] = await this.#admin.listTopics();
    if (topic === undefined) return null;
    const shown = await this.#settings(topic, topicSettings).catch((error: unknown) => {
      if (isAnswer(error)) return null;
      throw error;
    });
    return shown === null ? null : [...shown.keys()];
  }

  /** See `LogAdmin.restoreSettings`. */
  async restoreSettings(
    topics: readonly TopicSpec[],
    isMeant: (difference: TopicDifference) => boolean,
  ): Promise<readonly TopicDifference[]> {
    const differences = [...(await this.differences(topics)).values()].flat();
    // Refused later, and then nothing was changed but what loses records meanwhile.
    const isRefused = differences.some(({ field }) => !topicSettings.includes(field));
    const wrong = differences
      .filter((one) => isRestorable(one) && isMeant(one))
      .filter((one) => !isRefused || isCompactedByMistake(one));
    for (const spec of topics) {
      const fields = wrong.filter(({ topic }) => topic === spec.name).map(({ field }) => field);
      if (fields.length === 0) continue;
      await this.#configure(spec, fields);
      await this.#requireKept(spec, fields);
    }
    return wrong;
  }

  /** Brokers take the settings of a topic as a whole: those that are not named go back to their defaults. */
  async #configure(spec: TopicSpec, fields: readonly string[]): Promise<void> {
    const resource = { type: topicResource, name: spec.name };
    const { resources } = await this.#admin.describeConfigs({
      includeSynonyms: false,
      resources: [resource],
    });
    // Without effect while it is compacted, and then it would remove records.
    const restored = fields.includes(policyName) ? [...fields, retentionName] : fields;
    const kept = (resources[0]?.configEntries ?? [])
      .filter(({ configSource, configName }) => {
        return Number(configSource) === ownSource && !restored.includes(configName);
      })
      .map(({ configName: name, configValue: value }) => ({ name, value }));
    const { configEntries } = creationOf(spec, restored);
    await this.#admin.alterConfigs({
      validateOnly: false,
      resources: [{ ...resource, configEntries: [...kept, ...configEntries] }],
    });
  }

  /** A broker shows a change once it has heard of it. Throws `topic_differs` (stop) if not in five seconds. */
  async #requireKept(spec: TopicSpec, fields: readonly string[]): Promise<void> {
    for (let looks = 1; ; looks += 1) {
      const left = (await this.#compare(spec)).find(({ field }) => fields.includes(field));
      if (left === undefined) return;
      if (looks === changeLooks) throw topicDiffers(left);
      await pause(changeLookMs);
    }
  }

  /** See `LogAdmin.durability`. */
  async durability(topic: string): Promise<TopicDurability> {
    const { topics } = await this.#admin.fetchTopicMetadata({ topics: [topic] });
    const settings = await this.#settings(topic, [minInSyncName, uncleanName]);
    const isLeftOut = (name: string) => !settings.has(name) && this.#hidden.includes(name);
    const copies = topics.flatMap(({ partitions }) =>
      partitions.map(({ replicas }) => replicas.length),
    );
    return {
      copies: Math.min(...copies),
      minInSync: isLeftOut(minInSyncName) ? null : Number(settings.get(minInSyncName) ?? 1),
      electsUnclean: isLeftOut(uncleanName) ? null : settings.get(uncleanName) !== 'false',
    };
  }

  /** The first refusal with the brokers' answer, by its name in the protocol; null without one. */
  async #create(
    specs: readonly TopicSpec[],
    { settings, validateOnly }: Creation,
  ): Promise<{ readonly topic: string; readonly answer: string } | null> {
    // kafkajs' own wait for leaders fails when the broker that it asks has not heard of the topics yet.
    const how = { waitForLeaders: false, validateOnly };
    try {
      const created = specs.map((spec) => creationOf(spec, settings));
      await this.#admin.createTopics({ ...how, topics: created });
      return null;
    } catch (error) {
      const { type: answer, topic, retriable } = failureOf(error);
      if (answer === '' || retriable) throw error;
      return { topic: topic ?? 'all', answer };
    }
  }

  async #compare(spec: TopicSpec): Promise<readonly TopicDifference[]> {
    const { topics } = await this.#admin.fetchTopicMetadata({ topics: [spec.name] });
    const settings = await this.#settings(spec.name, Object.keys(configOf(spec)));
    return differencesOf(spec, { metadata: topics[0], settings });
  }

  #settings(topic: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return settingsOf(this.#admin, { type: topicResource, name: topic }, names);
  }
}

/** The values in force, by name, those of the broker's own defaults among them. */
export async function settingsOf(
  admin: Pick<Admin, 'describeConfigs'>,
  of: { readonly type: number; readonly name: string },
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ ...of, configNames: [...names] }],
  });
  const entries = resources[0]?.configEntries ?? [];
  return new Map(entries.map((entry) => [entry.configName, entry.configValue]));
}

/** Kafka numbers of a topic and a broker among resources; Node cannot import kafkajs own names from an ES module. */
const topicResource = 2;
export const brokerResource = 4;
