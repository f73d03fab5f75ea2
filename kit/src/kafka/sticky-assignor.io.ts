import { type Assigner, AssignerProtocol } from 'kafkajs';
import { assign, type MemberClaim } from './sticky-assignment.ts';

const assignorName = 'pm-sticky-1';
const assignorVersion = 0;

/** The assignor in kafkajs' shape; `present()` is this member's claim when it joins. */
export function stickyAssignor(options: {
  topic: string;
  present(): Omit<MemberClaim, 'memberId'>;
  partitionCount(): number;
}): Assigner {
  return {
    name: assignorName,
    version: assignorVersion,
    assign: async ({ members }) => {
      const claims = members.map((one) => parseClaim(one.memberId, one.memberMetadata));
      const assignment = assign(claims, options.partitionCount());
      return [...assignment].map(([memberId, partitions]) => ({
        memberId,
        memberAssignment: AssignerProtocol.MemberAssignment.encode({
          version: assignorVersion,
          assignment: { [options.topic]: [...partitions] },
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
    const sound =
      Array.isArray(owned) && owned.every(Number.isInteger) && Number.isInteger(generation);
    const names = { instance: String(instance), process: String(process) };
    return sound ? { memberId, ...names, generation, owned } : nothing;
  } catch {
    return nothing;
  }
}
