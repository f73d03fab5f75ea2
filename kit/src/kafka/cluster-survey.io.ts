import type { Admin, Kafka } from 'kafkajs';
import { openCluster } from './kafkajs-cluster.io.ts';
import { failureOf } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import { closeWithin } from './waiting.io.ts';
import { withFaults } from './with-faults.io.ts';

/** One operation that an account is allowed or denied on a topic, a group or the cluster. */
export interface AclEntry {
  /** `User:name` */
  readonly principal: string;
  /** By its name in `kafka-acls.sh`. */
  readonly operation: string;
  readonly kind: 'topic' | 'group' | 'cluster';
  /** `*` is all of the kind. */
  readonly name: string;
  readonly isPrefix: boolean;
  readonly isDenial: boolean;
  /** Only for connections from one address. */
  readonly isOfOneHost: boolean;
}

/** A cluster as its brokers describe it. */
export interface ClusterSurvey {
  /** Numbers of the brokers that run. */
  readonly brokers: readonly number[];
  /** Newest version of each kind of request, by its number in the protocol. */
  readonly requests: ReadonlyMap<number, number>;
  /** The ACLs of topics, groups and the cluster; instead of them the answer (`SECURITY_DISABLED`) that refuses them. */
  readonly acls: readonly AclEntry[] | { readonly refusal: string };
}

/** Asks a cluster what it is, and changes nothing. Rejects with `log_away` (retry) without an answer. */
export async function surveyCluster(
  admin: Pick<Admin, 'describeCluster' | 'describeAcls'>,
  kafka: Kafka,
  limits: LogClientLimits,
): Promise<ClusterSurvey> {
  const { brokers } = await admin.describeCluster();
  return {
    brokers: brokers.map(({ nodeId }) => nodeId).sort((a, b) => a - b),
    requests: await requestsOf(kafka, limits),
    acls: await aclsOf(admin),
  };
}

async function requestsOf(
  kafka: Kafka,
  limits: LogClientLimits,
): Promise<ReadonlyMap<number, number>> {
  const cluster = openCluster(kafka, limits);
  try {
    await withFaults(cluster.connect());
    const versions = Object.entries(Object(cluster.brokerPool.versions));
    return new Map(
      versions.map(([key, one]) => [Number(key), Number(Reflect.get(Object(one), 'maxVersion'))]),
    );
  } finally {
    await closeWithin(cluster.disconnect(), limits.closeTimeoutMs);
  }
}

/** Numbers of the protocol. */
const kinds = new Map([
  [2, 'topic'],
  [3, 'group'],
  [4, 'cluster'],
] as const);
const operations = new Map([
  [2, 'All'],
  [3, 'Read'],
  [4, 'Write'],
  [5, 'Create'],
  [6, 'Delete'],
  [7, 'Alter'],
  [8, 'Describe'],
  [10, 'DescribeConfigs'],
  [11, 'AlterConfigs'],
]);
const prefixed = 4;
const denied = 2;
const any = 1;

async function aclsOf(admin: Pick<Admin, 'describeAcls'>): Promise<ClusterSurvey['acls']> {
  const filter = {
    resourceType: any,
    resourcePatternType: any,
    operation: any,
    permissionType: any,
  };
  try {
    // The types of kafkajs ask for a name.
    const { resources } = await admin.describeAcls(filter as never);
    return resources.flatMap(({ resourceType, resourceName, resourcePatternType, acls }) => {
      const kind = kinds.get(resourceType as 2 | 3 | 4);
      if (kind === undefined) return [];
      return acls.map(({ principal, host, operation, permissionType }) => ({
        principal,
        operation: operations.get(operation) ?? String(operation),
        kind,
        name: resourceName,
        isPrefix: Number(resourcePatternType) === prefixed,
        isDenial: Number(permissionType) === denied,
        isOfOneHost: host !== '*',
      }));
    });
  } catch (error) {
    const { type } = failureOf(error);
    if (type === '') throw error;
    return { refusal: type };
  }
}
