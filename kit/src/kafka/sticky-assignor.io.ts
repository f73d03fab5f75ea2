import { type Assigner, AssignerProtocol } from 'kafkajs';
import { assign, assignStandbys, type MemberClaim } from './sticky-assignment.ts';

const assignorName = 'pm-sticky-1';
const assignorVersion = 0;

/**
 * The assignor in kafkajs' shape; `present()` is this member's claim when it joins. With `standbyTopic` second replicas
 * are assigned too, as the partitions of that topic.
 */
export function stickyAssignor(options: {
  topic: string;
  standbyTopic?: string | undefined;
  present(): Omit<MemberClaim, 'memberId'>;
  partitionCount(): number;
}): Assigner {
  return {
    name: assignorName,
    version: assignorVersion,
    assign: async ({ members }) => {
      const claims = members.map((one) => parseClaim(one.memberId, one.memberMetadata));
      const { topic, standbyTopic } = options;
      const count = options.partitionCount();
      const assignment = assign(claims, count);
      const standbys = assignStandbys(claims, assignment, count);
      return [...assignment].map(([memberId, partitions]) => ({
        memberId,
        memberAssignment: AssignerProtocol.MemberAssignment.encode({
          version: assignorVersion,
          assignment: {
            [topic]: [...partitions],
            ...(standbyTopic && { [standbyTopic]: [...(standbys.get(memberId) ?? [])] }),
          },
          userData: Buffer.alloc(0),
        }),
      }));
    },
    protocol: ({ topics }) => ({
      name: assignorName,
      metadata: AssignerProtocol.MemberMetadata.encode({
        version: assignorVersion,
        topics,
        userData: Buffer.from(JSON.stringify(options.present())),
      }),
    }),
  };
}

/** The claim in a member's metadata; a member with metadata of another kind claims nothing. */
export function parseClaim(memberId: string, metadata: Buffer): MemberClaim {
  const nothing = { memberId, instance: '', process: '', generation: -1, owned: [] };
  try {
    const userData = AssignerProtocol.MemberMetadata.decode(metadata)?.userData;
    const claim: unknown = JSON.parse(String(userData));
    if (typeof claim !== 'object' || claim === null) return nothing;
    const { instance, process, generation, owned } = { ...nothing, ...claim };
    const standbys: unknown = 'standbys' in claim ? claim.standbys : undefined;
    const sound = arePartitions(owned) && Number.isInteger(generation);
    const names = { instance: String(instance), process: String(process) };
    const second = arePartitions(standbys) && { standbys };
    return sound ? { memberId, ...names, generation, owned, ...second } : nothing;
  } catch {
    return nothing;
  }
}

function arePartitions(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every(Number.isInteger);
}
