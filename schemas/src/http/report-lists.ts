import { Type } from 'typebox';
import {
  address,
  conditionId,
  count,
  dateTime,
  decimal,
  flag,
  number,
  pageOf,
  sample,
  text,
} from './forms.ts';
import { HolderGroup, Position } from './reading.ts';
import {
  Activity,
  BuilderTrade,
  ClosedPosition,
  LeaderboardEntry,
  MarketPosition,
  PublicTrade,
} from './reports.ts';

/** Lists and figures of public reports (conventions.md 6.5 and 6.1). */
export const Positions = Type.Array(Position);
export const ClosedPositions = Type.Array(ClosedPosition);
export const Activities = Type.Array(Activity);
export const PublicTrades = Type.Array(PublicTrade);
export const HolderGroups = Type.Array(HolderGroup);
export const Leaderboard = Type.Array(LeaderboardEntry);

export const WalletValue = Type.Array(Type.Object({ user: address, value: number }));
export const WalletTraded = Type.Object({
  user: address,
  traded: Type.Integer({ minimum: 0, description: 'Markets the wallet traded in.' }),
});

export const OpenInterest = Type.Array(
  Type.Object({
    market: Type.String({
      pattern: '^(GLOBAL|0x[0-9a-fA-F]{64})$',
      description: 'Condition id, or `GLOBAL`.',
      examples: [sample.condition],
    }),
    value: decimal,
  }),
);
export const LiveVolume = Type.Array(
  Type.Object({
    total: decimal,
    markets: Type.Array(Type.Object({ market: conditionId, value: decimal })),
  }),
  { maxItems: 1 },
);

export const MarketPositionGroups = Type.Array(
  Type.Object({ token: text, positions: Type.Array(MarketPosition) }),
);

export const BuilderTradePage = pageOf(BuilderTrade);
export const BuilderDays = Type.Array(
  Type.Object({
    date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', examples: ['2026-06-01'] }),
    volume: decimal,
    users: count,
  }),
);

const boardFields = {
  rank: Type.String({ pattern: '^[0-9]+$', examples: ['1'] }),
  builder: text,
  volume: number,
  activeUsers: count,
  verified: flag,
  builderLogo: text,
};
export const BuilderBoard = Type.Array(Type.Object(boardFields));
export const BuilderBoardDays = Type.Array(Type.Object({ dt: dateTime, ...boardFields }));
