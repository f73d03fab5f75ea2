import { type Static, Type } from 'typebox';

/** HTTP bodies of heartbeats (conventions.md 3.16). Unknown fields are tolerated and ignored. */
export const HeartbeatBody = Type.Object({
  heartbeat_id: Type.Optional(
    Type.Union([Type.String({ maxLength: 64 }), Type.Null()], {
      description: 'The id of the last answer; empty, null or absent to start a chain.',
    }),
  ),
});
export type HeartbeatBody = Static<typeof HeartbeatBody>;

export const HeartbeatResponse = Type.Object({
  heartbeat_id: Type.String({ description: 'What the next heartbeat names.' }),
});
export type HeartbeatResponse = Static<typeof HeartbeatResponse>;

export const BareHeartbeatResponse = Type.Object({
  status: Type.Literal('ok'),
  heartbeat_id: Type.String({ description: 'The current id of the chain, unchanged.' }),
});
export type BareHeartbeatResponse = Static<typeof BareHeartbeatResponse>;
