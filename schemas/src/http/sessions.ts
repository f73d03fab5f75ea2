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

export const HeartbeatAnswer = Type.Object({
  heartbeat_id: Type.String({ description: 'What the next heartbeat names.' }),
});
export type HeartbeatAnswer = Static<typeof HeartbeatAnswer>;

export const BareHeartbeatAnswer = Type.Object({
  status: Type.Literal('ok'),
  heartbeat_id: Type.String({ description: 'The current id of the chain, unchanged.' }),
});
export type BareHeartbeatAnswer = Static<typeof BareHeartbeatAnswer>;
