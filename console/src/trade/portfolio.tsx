import type { OpenOrder } from '@pm/schemas/http/private-reading';
import { cents, clock, shares, usd } from '../format.ts';
import { eventHref } from '../place.ts';
import {
  cancelAll,
  cancelOrder,
  cash,
  heartbeat,
  openOrders,
  positions,
  session,
  startHeartbeat,
  stopHeartbeat,
} from './session.ts';

/** Open orders of the wallet; those of one market when its tokens are given. */
export function OrdersView({ tokens }: { readonly tokens?: readonly string[] }) {
  const shown = openOrders.value.filter(
    ({ asset_id }) => tokens === undefined || tokens.includes(asset_id),
  );
  if (session.value === null) return <p class="quiet pad">Connect a wallet to see its orders.</p>;
  if (shown.length === 0) return <p class="quiet pad">No open orders.</p>;
  return (
    <div class="scroll">
      <table data-testid="orders">
        <thead>
          <tr>
            <th>Time</th>
            <th>Side</th>
            <th class="number">Price</th>
            <th class="number">Filled / shares</th>
            <th>Type</th>
            <th />
          </tr>
        </thead>
        <tbody>
          {shown.map((order) => (
            <OrderRow key={order.id} order={order} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function OrderRow({ order }: { readonly order: OpenOrder }) {
  return (
    <tr>
      <td class="quiet">{clock(order.created_at)}</td>
      <td class={order.side === 'BUY' ? 'up' : 'down'}>
        {order.side === 'BUY' ? 'Buy' : 'Sell'} {order.outcome}
      </td>
      <td class="number">{cents(order.price)}</td>
      <td class="number">
        {shares(order.size_matched)} / {shares(order.original_size)}
      </td>
      <td class="quiet">{order.order_type}</td>
      <td class="number">
        <button type="button" class="small" onClick={() => void cancelOrder(order.id)}>
          Cancel
        </button>
      </td>
    </tr>
  );
}

/** Positions of the wallet; those of one market when its condition is given. */
export function PositionsView({ condition }: { readonly condition?: string }) {
  if (session.value === null)
    return <p class="quiet pad">Connect a wallet to see its positions.</p>;
  const shown = positions.value.filter(
    ({ conditionId }) => condition === undefined || conditionId === condition,
  );
  if (shown.length === 0) return <p class="quiet pad">No positions.</p>;
  return (
    <div class="scroll">
      <table data-testid="positions">
        <thead>
          <tr>
            <th>Market</th>
            <th class="number">Shares</th>
            <th class="number">Average</th>
            <th class="number">Now</th>
            <th class="number">Value</th>
            <th class="number">Profit</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => (
            <tr key={one.asset}>
              <td>
                <a href={eventHref(String(one.eventSlug), String(one.conditionId))}>{one.title}</a>{' '}
                <strong>{one.outcome}</strong>
              </td>
              <td class="number">{shares(one.size)}</td>
              <td class="number">{cents(one.avgPrice)}</td>
              <td class="number">{cents(one.curPrice)}</td>
              <td class="number">{usd(one.currentValue)}</td>
              <td class={`number ${one.cashPnl < 0 ? 'down' : 'up'}`}>{usd(one.cashPnl)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Page of the money, positions and orders of a wallet, and its switches. */
export function PortfolioPage() {
  const value = positions.value.reduce((sum, one) => sum + one.currentValue, 0);
  const figures: readonly (readonly [string, string])[] = [
    ['Free', cash.value === null ? '–' : usd(cash.value.free)],
    ['In orders', cash.value === null ? '–' : usd(cash.value.held)],
    ['Positions', usd(value)],
    ['Open orders', String(openOrders.value.length)],
  ];
  return (
    <main class="page">
      <h1>Portfolio</h1>
      {session.value !== null && <p class="quiet address">{session.value.address}</p>}
      <dl class="figures">
        {figures.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <HeartbeatView />
      <section class="panel">
        <header>
          <h2>Open orders</h2>
          <button
            type="button"
            class="small"
            disabled={openOrders.value.length === 0}
            onClick={() => void cancelAll()}
          >
            Cancel all
          </button>
        </header>
        <OrdersView />
      </section>
      <section class="panel">
        <header>
          <h2>Positions</h2>
        </header>
        <PositionsView />
      </section>
    </main>
  );
}

const heartbeatTexts = {
  off: 'Off: orders stay open when this page closes.',
  on: 'On: orders are canceled 10 to 15 seconds after this page falls silent.',
  missed: 'A beat was missed, orders were canceled; a new session runs.',
} as const;

function HeartbeatView() {
  const { state, beats } = heartbeat.value;
  return (
    <section class="panel line" aria-label="Heartbeat">
      <span class={`dot ${state}`} />
      <span>
        <strong>Heartbeat</strong> <span class="quiet">{heartbeatTexts[state]}</span>
        {state !== 'off' && <span class="quiet"> {beats} beats.</span>}
      </span>
      <button
        type="button"
        class="small"
        disabled={session.value === null}
        onClick={() => void (state === 'off' ? startHeartbeat() : stopHeartbeat())}
      >
        {state === 'off' ? 'Start' : 'Stop'}
      </button>
    </section>
  );
}
