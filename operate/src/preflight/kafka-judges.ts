import { toolCall } from '@pm/deploy/installation/tool-call';
import { slowSettings } from '@pm/deploy/setup/broker-settings';
import {
  allowanceOf,
  type ClusterSurvey,
  isAllowed,
  settingRefusals,
  type TopicDifference,
} from '@pm/kit/kafka';
import type { KafkaRight } from '../access/kafka-acls.ts';
import { type Judgement, no, unknown, yes } from './need.ts';

/** Kinds of requests by their number in the protocol, with the oldest version that is used. */
const requestsUsed = [
  { key: 0, name: 'Produce', version: 3 },
  { key: 1, name: 'Fetch', version: 4 },
  { key: 3, name: 'Metadata', version: 1 },
  { key: 19, name: 'CreateTopics', version: 2 },
  { key: 32, name: 'DescribeConfigs', version: 0 },
] as const;
const initProducerId = 22;

export function judgeRequests({ requests }: Pick<ClusterSurvey, 'requests'>): Judgement {
  const lacking = requestsUsed.filter(({ key, version }) => (requests.get(key) ?? -1) < version);
  if (lacking.length === 0) return yes(`Produce ${requests.get(0)}, Fetch ${requests.get(1)}`);
  const names = lacking.map(({ name, version }) => `${name} ${version}`).join(', ');
  return no(`the brokers lack ${names}`, 'use brokers of Kafka 3.0 or newer');
}

/** The exchange writes with producer ids and sequences, and uses no transactions. */
export function judgeIdempotence({ requests }: Pick<ClusterSurvey, 'requests'>): Judgement {
  return requests.has(initProducerId)
    ? yes('the brokers give producer ids')
    : no('the brokers give no producer ids', 'use brokers with idempotent producers');
}

export function judgeCopies(found: {
  readonly brokers: readonly number[];
  readonly copies: number;
}): Judgement {
  const { length } = found.brokers;
  const line = `${length} brokers run, and each topic has ${found.copies} copies`;
  return length >= found.copies ? yes(line) : no(line, 'start brokers, or give --replication');
}

/** Topics that exist, by the differences that each has. */
export function judgeExisting(found: {
  readonly differences: ReadonlyMap<string, readonly TopicDifference[]>;
  readonly hidden: readonly string[];
}): Judgement {
  const { differences, hidden } = found;
  const all = [...differences.values()].flat();
  const [first, ...others] = all.filter((one) => !isAllowed(one, hidden));
  if (first === undefined) {
    const names = [...new Set(all.map(({ field }) => field))];
    const more = names.length === 0 ? '' : `; not shown, and allowed: ${names.join(', ')}`;
    return yes(
      differences.size === 0 ? 'there are none yet' : `${differences.size} as wanted${more}`,
    );
  }
  const { topic, field, wanted, found: has } = first;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  const line = `${topic}: ${field} is ${has ?? 'not shown'}, wanted is ${wanted}${more}`;
  return no(line, differenceAdvice(first));
}

/** Topics that are missing, by the brokers' answer to a creation that was only tried. */
export function judgeCreations(found: {
  readonly missing: number;
  readonly refused: ReadonlyMap<string, string>;
}): Judgement {
  const { missing, refused } = found;
  const [first] = refused;
  if (first === undefined) return yes(missing === 0 ? 'all exist' : `${missing} would be created`);
  const [topic, answer] = first;
  const line = `${topic}: ${answer}${refused.size === 1 ? '' : `, and ${refused.size - 1} more`}`;
  return no(line, creationAdvice(answer));
}

function creationAdvice(answer: string): string {
  if (answer === 'INVALID_REPLICATION_FACTOR') return 'start brokers, or give --replication';
  if (answer.endsWith('AUTHORIZATION_FAILED')) return 'give the account of set-up the right Create';
  return 'see which setting of topics is refused, below';
}

/** One setting of topics: whether brokers take it for the missing ones, alone, and show it. */
export function judgeSetting(found: {
  readonly setting: string;
  readonly hidden: readonly string[];
  /** The settings that brokers show of some topic; null where that is not known. */
  readonly shown: readonly string[] | null;
  readonly refused: ReadonlyMap<string, string>;
  readonly differences: readonly TopicDifference[];
}): Judgement {
  const { setting, hidden, shown, refused, differences } = found;
  const isAllowedAway = hidden.includes(setting);
  const other = differences.find((one) => one.field === setting && !isAllowed(one, hidden));
  if (other !== undefined)
    return no(
      `${other.topic} has ${other.found ?? 'none'}, wanted is ${other.wanted}`,
      differenceAdvice(other),
    );
  const [refusal] = refused;
  if (refusal !== undefined && !settingRefusals.includes(refusal[1]))
    return unknown(`${refusal[0]} is refused for another reason: ${refusal[1]}`);
  const isTaken = refusal === undefined;
  const how = isTaken ? 'taken' : `${refusal[0]}: ${refusal[1]}`;
  if (isAllowedAway) return yes(`${how}; it may be left out`);
  if (isTaken && shown === null)
    return unknown('taken; there is no topic by which to see whether it is shown');
  if (isTaken && shown?.includes(setting) === true) return yes('taken and shown');
  const todo = `set PM_KAFKA_HIDDEN_SETTINGS=${setting} where the brokers do without it by design`;
  return no(isTaken ? 'taken, and not shown afterwards' : how, todo);
}

function differenceAdvice(difference: TopicDifference): string {
  const allowance = allowanceOf(difference);
  return allowance === null ? 'change the topic' : `set it, or allow it by ${allowance}`;
}

type BrokerSettings = ReadonlyMap<number, ReadonlyMap<string, string>>;

export const requestSizeName = 'socket.request.max.bytes';

/** A request holds a batch, and one batch may have one record of the largest size. */
export function judgeRequestSize(found: {
  readonly settings: BrokerSettings;
  readonly recordBytes: number;
}): Judgement {
  const sizes = [...found.settings.values()].flatMap((one) => one.get(requestSizeName) ?? []);
  if (sizes.length === 0) return unknown(`the brokers do not show ${requestSizeName}`);
  const smallest = Math.min(...sizes.map(Number));
  const line = `${requestSizeName} is ${smallest}, the largest record has ${found.recordBytes}`;
  return smallest > found.recordBytes ? yes(line) : no(line, `raise ${requestSizeName}`);
}

/** Slow brokers work: set-up names them as well, and refuses none. */
export function judgeFailover(settings: BrokerSettings): Judgement {
  if (settings.size === 0) return unknown('the brokers do not show their settings');
  const slow = slowSettings(settings);
  if (slow.length === 0 && settings.size === 1) return yes('one broker, which cannot be replaced');
  if (slow.length === 0) return yes('a lost broker is replaced as fast as advised');
  return yes(`works, and is slower than advised: ${slow.join('; ')}`);
}

/** An account by the ACLs that name it, or that name every user. */
export function judgeRights(found: {
  readonly principal: string;
  readonly rights: readonly KafkaRight[];
  readonly acls: ClusterSurvey['acls'];
}): Judgement {
  const { principal, rights, acls } = found;
  if ('refusal' in acls) {
    return acls.refusal === 'SECURITY_DISABLED'
      ? yes('the brokers have no ACLs: every account may do everything')
      : unknown(`this account may not read ACLs (${acls.refusal})`);
  }
  const own = acls.filter((one) => one.principal === principal || one.principal === 'User:*');
  const always = own.filter((one) => !one.isOfOneHost);
  const lacking = rights.flatMap(({ operations, kind, names }) =>
    operations.flatMap((operation) =>
      names
        .filter((name) => !isAllowedBy(always, { operation, kind, name }))
        .map((name) => `${operation} on ${kind} ${name}`),
    ),
  );
  const [first] = lacking;
  if (first === undefined) return yes(`${principal} has all its rights`);
  if (!own.some((one) => one.principal === principal))
    return unknown(`no ACL names ${principal}; it may have another name`);
  if (always.length < own.length) return unknown(`ACLs of ${principal} are for single hosts`);
  const more = lacking.length === 1 ? '' : ` and ${lacking.length - 1} more`;
  return no(
    `${principal} lacks ${first}${more}`,
    `run what ${toolCall('access', '--format', 'kafka')} writes`,
  );
}

interface Asked {
  readonly operation: string;
  readonly kind: 'topic' | 'group';
  readonly name: string;
}

/** Operations that include another one, by that. */
const including: Readonly<Record<string, readonly string[]>> = {
  Describe: ['Read', 'Write', 'Delete', 'Alter'],
  DescribeConfigs: ['AlterConfigs'],
};

function isAllowedBy(
  acls: Exclude<ClusterSurvey['acls'], { readonly refusal: string }>,
  { operation, kind, name }: Asked,
): boolean {
  const named = acls.filter(
    (one) =>
      one.kind === kind &&
      (one.name === '*' || (one.isPrefix ? name.startsWith(one.name) : name === one.name)),
  );
  const enough = ['All', operation, ...(including[operation] ?? [])];
  const mayCreateAny = acls.some(
    (one) => one.kind === 'cluster' && !one.isDenial && ['All', 'Create'].includes(one.operation),
  );
  const isDenied = named.some((one) => one.isDenial && ['All', operation].includes(one.operation));
  if (isDenied) return false;
  if (operation === 'Create' && kind === 'topic' && mayCreateAny) return true;
  return named.some((one) => !one.isDenial && enough.includes(one.operation));
}

/** The log of an installation: how many partitions were opened, and why they are not those of these keys. */
export function judgeInstallation(found: {
  readonly opened: number;
  readonly foreign: string | null;
}): Judgement {
  if (found.foreign !== null) return no(found.foreign, 'use the data folder and names of that log');
  if (found.opened === 0) return yes('a new one: no partition was opened yet');
  return yes(`${found.opened} partitions were opened with these keys and this fee wallet`);
}
