import { Type } from 'typebox';
import { conditionId, orderId, rowLimit, wallet } from '../server/forms.ts';
import { type Tool, tool } from '../server/tool.io.ts';
import { declareTool, reading, ToolRefusal } from '../server/tool.ts';
import {
  BalancesView,
  balancesView,
  OrderView,
  orderView,
  PositionView,
  positionView,
  RankView,
  rankView,
} from './account-views.ts';

const positionsMax = 200;
const positionsDefault = 50;
const ranksMax = 50;
const ranksDefault = 25;

const noWallet = () =>
  new ToolRefusal(
    'no_own_wallet',
    'this server knows no wallet of yours: name one where the tool takes it, or give the server a wallet key or a ' +
      'read-only key (docs/trading/agents.md)',
  );

const getPositions = declareTool({
  name: 'get_positions',
  title: 'Read positions',
  description: 'Tokens that a wallet holds, valued at displayed prices, largest first.',
  annotations: reading,
  input: Type.Object({
    wallet: Type.Optional(wallet),
    market: Type.Optional(conditionId),
    limit: rowLimit(positionsMax, positionsDefault),
  }),
  output: Type.Object({ wallet, positions: Type.Array(PositionView) }),
});

const getBalances = declareTool({
  name: 'get_balances',
  title: 'Read own balances',
  description:
    'USDC and tokens of the own wallets, as of the request. `available` is what a new order may use. Needs a wallet ' +
    'key (stdio) or a read-only key.',
  annotations: reading,
  input: Type.Object({}),
  output: Type.Object({ wallets: Type.Array(BalancesView) }),
});

const getLeaderboard = declareTool({
  name: 'get_leaderboard',
  title: 'Read the leaderboard',
  description: 'Wallets by profit or volume of a rolling period.',
  annotations: reading,
  input: Type.Object({
    period: Type.Optional(
      Type.Enum(['DAY', 'WEEK', 'MONTH', 'ALL'], { description: 'DAY by default.' }),
    ),
    order_by: Type.Optional(Type.Enum(['PNL', 'VOL'], { description: 'PNL by default.' })),
    wallet: Type.Optional(wallet),
    limit: rowLimit(ranksMax, ranksDefault),
  }),
  output: Type.Object({ entries: Type.Array(RankView) }),
});

const getOrder = declareTool({
  name: 'get_order',
  title: 'Read an order',
  description: 'The state of one order by its id: what is filled, what rests, how it ended.',
  annotations: reading,
  input: Type.Object({ order_id: orderId }),
  output: OrderView,
});

/** Tools that read wallets and orders. */
export const accountTools: readonly Tool[] = [
  tool(getPositions, async ({ limit = positionsDefault, market, ...input }, session) => {
    const user = input.wallet ?? session.own?.wallet;
    if (user === undefined) return noWallet();
    const positions = await session.exchange.getMounted('listPositions', {
      query: {
        user,
        sizeThreshold: '0',
        limit: String(limit),
        ...(market === undefined ? {} : { market: [market] }),
      },
    });
    return { wallet: user, positions: positions.map(positionView) };
  }),
  tool(getBalances, async (_input, { own }) => {
    if (own === null) return noWallet();
    return { wallets: (await own.balances()).map(balancesView) };
  }),
  tool(getLeaderboard, async (input, { exchange }) => {
    const entries = await exchange.get('getLeaderboard', {
      query: {
        timePeriod: input.period ?? 'DAY',
        orderBy: input.order_by ?? 'PNL',
        limit: String(input.limit ?? ranksDefault),
        ...(input.wallet === undefined ? {} : { user: input.wallet }),
      },
    });
    return { entries: entries.map(rankView) };
  }),
  tool(getOrder, async ({ order_id }, { exchange }) =>
    orderView(await exchange.get('getOrder', { params: { id: order_id } })),
  ),
];
