import { hash } from 'node:crypto';
import {
  FamilyFilters,
  type FamilyLiveFrame,
  type LiveTopic,
  liveTopics,
} from '@pm/schemas/streams/family-frames';
import { Compile } from 'typebox/compile';
import { readObject } from '../read-object.ts';

/** Every type of a topic. */
export const anyType = '*';

export interface LiveSubscription {
  readonly topic: LiveTopic;
  readonly type: string;
  /** Facts that an event must have, in the order of their hashes; empty for everything. */
  readonly filters: readonly string[];
}

type Sent = FamilyLiveFrame['subscriptions'][number];
type Forms = Readonly<Record<string, { readonly pattern: string }>>;

const filtersChecker = Compile(FamilyFilters);

const topics: ReadonlyMap<string, LiveTopic> = new Map(
  Object.keys(liveTopics).map((topic) => [topic, topic as LiveTopic]),
);

const formsOf = (forms: Forms): ReadonlyMap<string, RegExp> =>
  new Map(Object.entries(forms).map(([name, { pattern }]) => [name, new RegExp(pattern, 'u')]));
const forms: Readonly<Record<LiveTopic, ReadonlyMap<string, RegExp>>> = {
  activity: formsOf(liveTopics.activity.filters),
  comments: formsOf(liveTopics.comments.filters),
};

/**
 * Hash of a fact that filters and events have in common. Facts are compared only, so the hash is kept, however long the
 * value is. `value` in lower case.
 */
export function factOf(topic: LiveTopic, name: string, value: string): string {
  return hash('sha256', JSON.stringify([topic, name, value]), 'base64url');
}

/** The subscription that a frame asks for; the text of a refusal that names what is wrong; null without its form. */
export function readSubscription({
  topic: named,
  type,
  filters,
}: Sent): LiveSubscription | string | null {
  const sent = filtersOf(filters);
  if (sent === null) return null;
  const topic = topics.get(named);
  if (topic === undefined) return `unknown topic ${JSON.stringify(named)}`;
  const { types, silent } = liveTopics[topic];
  const known = [anyType, ...types, ...silent].find((one) => one === (type ?? anyType));
  if (known === undefined) return `unknown type ${JSON.stringify(type)} of ${topic}`;
  const facts: string[] = [];
  for (const [name, value] of Object.entries(sent)) {
    const form = forms[topic].get(name);
    if (form === undefined) return `unknown filter ${JSON.stringify(name)} of ${topic}`;
    const text = String(value).toLowerCase();
    if (!form.test(text)) return `the filter ${name} of ${topic} takes another form`;
    facts.push(factOf(topic, name, text));
  }
  return { topic, type: known, filters: facts.sort() };
}

/** An object, or one as a JSON text; absent and empty ones let everything through. Null for another form. */
function filtersOf(sent: Sent['filters']): FamilyFilters | null {
  if (sent === undefined || sent === null || sent === '') return {};
  const shape: unknown = typeof sent === 'string' ? readObject(sent) : sent;
  return filtersChecker.Check(shape) ? shape : null;
}
