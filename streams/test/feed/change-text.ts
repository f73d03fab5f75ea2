import { hexBytes } from '@pm/schemas/ids';
import type { FeedChange } from '../../src/feed/changes.ts';
import type { SnapshotList } from '../../src/feed/snapshot-list.ts';
import type { MarketSnapshot } from '../../src/feed/snapshots.ts';
import type { NaiveChange } from './naive-feed.ts';

export const allOf = <T>(list: SnapshotList<T>): readonly T[] => list.slice(0, list.length);

/** The snapshot of `orders` with all its orders. */
export function ordersOf(snapshot: MarketSnapshot | null | undefined) {
  return snapshot?.channel === 'orders' ? { ...snapshot, orders: allOf(snapshot.orders) } : null;
}

const hex = (bytes: Buffer): string => bytes.toString('hex');

/** A change in the words of the naive twin. */
export function changeText(change: FeedChange): NaiveChange {
  const { offset, index, timeMs } = change.at;
  const key = `${change.channel} ${change.channel === 'own' ? hex(hexBytes(change.wallet)) : change.market}`;
  return { key, text: `${change.seq} @${offset}/${index}/${timeMs} ${contentOf(change)}` };
}

function contentOf(change: FeedChange): string {
  switch (change.channel) {
    case 'book':
      return change.levels
        .map(({ side, price, sizeMicro }) => `${side} ${price} ${sizeMicro}`)
        .join(',');
    case 'best':
      return `${change.bid} ${change.ask} ${change.bidSizeMicro} ${change.askSizeMicro}`;
    case 'trades':
      return fillText(change.fill);
    case 'orders': {
      const id = hex(change.order.orderId);
      if (change.action === 'remove') return `remove ${id}`;
      const { side, price, restingMicro } = change.order;
      return `${change.action} ${id} ${side} ${price} ${restingMicro}`;
    }
    case 'markets': {
      const { tick, minSizeMicro, feeRateBps, mode, takerDelayMs, payout0, tradingMode } =
        change.rules;
      const rules = `${tick} ${minSizeMicro} ${feeRateBps} ${mode} ${takerDelayMs} ${payout0}`;
      return `${change.action} ${rules} ${tradingMode}`;
    }
    case 'activity': {
      const { source, role } = change;
      const facts = source.kind === 'Fill' ? fillText(source) : source.action;
      return `${hex(hexBytes(change.wallet))} ${role} ${facts}`;
    }
    case 'own':
      return ownText(change.change);
  }
}

function ownText(change: Extract<FeedChange, { channel: 'own' }>['change']): string {
  switch (change.kind) {
    case 'order': {
      const { event, orderId, market, restingMicro } = change;
      return `order ${hex(orderId)} ${event.kind} ${market} ${restingMicro}`;
    }
    case 'fill':
      return `fill ${change.role} ${fillText(change.fill)}`;
    case 'balance':
      return `balance ${change.freeMicro} ${change.heldMicro}`;
    case 'position':
      return `position ${change.market} ${change.token0Micro} ${change.token1Micro}`;
  }
}

function fillText(fill: Extract<FeedChange, { channel: 'trades' }>['fill']): string {
  return `${hex(fill.takerOrderId)} ${hex(fill.makerOrderId)} ${fill.sizeMicro}`;
}
