import { topicName } from '@pm/kit/registry';
import { topics } from '@pm/schemas/log/topics';
import { copyNameOf } from '../repair/copy-marker.ts';
import { accountOf } from './declared.ts';
import type { DeclaredAccess, TopicRight } from './rights.ts';

/** Where the commands find the brokers and the account that may change ACLs: variables of the shell. */
const connection = '--bootstrap-server "$KAFKA" --command-config "$KAFKA_ADMIN"';

/** Commands of a shell that allow each account what is declared, on resources by their exact names. */
export function kafkaAclLines(
  declared: readonly DeclaredAccess[],
  topicPrefix: string,
): readonly string[] {
  return declared.flatMap((access) =>
    kafkaRightsOf(access, topicPrefix).map(({ operations, kind, names }) =>
      [
        `kafka-acls.sh ${connection} --add --allow-principal ${principalOf(access)}`,
        ...operations.map((operation) => `--operation ${operation}`),
        ...names.map((name) => `--${kind} ${name}`),
      ].join(' '),
    ),
  );
}

/** An account as ACLs name it. */
export function principalOf(access: Pick<DeclaredAccess, 'name'>): string {
  return `User:${accountOf(access)}`;
}

/** Operations that an account needs on topics or groups by their exact names. */
export interface KafkaRight {
  readonly operations: readonly string[];
  readonly kind: 'topic' | 'group';
  readonly names: readonly string[];
}

/** The declared rights of an account at the brokers. */
export function kafkaRightsOf(
  access: Pick<DeclaredAccess, 'topics' | 'groups'>,
  topicPrefix: string,
): readonly KafkaRight[] {
  return [
    ...access.topics.map((right) => ({
      operations: right.operations,
      kind: 'topic' as const,
      names: topicNames(right, topicPrefix),
    })),
    ...access.groups.map(({ operation, names }) => ({
      operations: [operation],
      kind: 'group' as const,
      names: names(topicPrefix),
    })),
  ];
}

function topicNames(right: TopicRight, topicPrefix: string): readonly string[] {
  const names = right.topics.map((name) => topicName(topics[name], topicPrefix));
  return right.ofCopies === true ? names.map(copyNameOf) : names;
}
