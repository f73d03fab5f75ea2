import { topicName } from '@pm/kit/registry';
import { topics } from '@pm/schemas';
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
  return declared.flatMap((access) => {
    const line = (
      operations: readonly string[],
      kind: 'topic' | 'group',
      names: readonly string[],
    ) =>
      [
        `kafka-acls.sh ${connection} --add --allow-principal User:${accountOf(access)}`,
        ...operations.map((operation) => `--operation ${operation}`),
        ...names.map((name) => `--${kind} ${name}`),
      ].join(' ');
    return [
      ...access.topics.map((right) =>
        line(right.operations, 'topic', topicNames(right, topicPrefix)),
      ),
      ...access.groups.map(({ operation, names }) =>
        line([operation], 'group', names(topicPrefix)),
      ),
    ];
  });
}

function topicNames(right: TopicRight, topicPrefix: string): readonly string[] {
  const names = right.topics.map((name) => topicName(topics[name], topicPrefix));
  return right.ofCopies === true ? names.map(copyNameOf) : names;
}
