import { at, type Row } from './fresh-database.ts';
import { apiKey, wallet } from './in-memory.ts';

/** A fill between two wallets, and the rows that tables have of it. */
export interface Fill {
  readonly partition: number;
  readonly offset: number;
  readonly index: number;
  readonly seconds: number;
  readonly market: number;
  readonly size: number;
  /** Cents. */
  readonly price: number;
  readonly taker: number;
  readonly maker: number;
  /** Side of the taker. */
  readonly side: 'BUY' | 'SELL';
  readonly builder: number;
}

/** 32 bytes that end in a number: orders and builders. */
export const code = (index: number) => `0x${index.toString(16).padStart(64, '0')}`;

const source = ({ partition, offset, index, seconds }: Fill): Row => ({
  partition,
  in_offset: offset,
  event_index: index,
  time: at(seconds),
});

/** As `fills` has it. */
export const whole = (fill: Fill): Row => ({
  ...source(fill),
  market: fill.market,
  match: 'COMPLEMENTARY',
  size: fill.size,
  taker_order: code(1),
  taker: wallet(fill.taker),
  taker_key: apiKey(fill.taker),
  taker_outcome: 0,
  taker_side: fill.side,
  taker_price: fill.price / 100,
  taker_builder: code(fill.builder),
  maker_order: code(2),
  maker: wallet(fill.maker),
  maker_key: apiKey(fill.maker),
  maker_outcome: 0,
  maker_side: fill.side === 'BUY' ? 'SELL' : 'BUY',
  maker_price: fill.price / 100,
  maker_builder: code(0),
  fee: '0.5',
  fee_rate_bps: 100,
});

/** As `wallet_fills` and `tape` have it. */
export const sides = (fill: Fill): readonly Row[] =>
  (['TAKER', 'MAKER'] as const).map((role) => {
    const owner = role === 'TAKER' ? fill.taker : fill.maker;
    return {
      ...source(fill),
      role,
      wallet: wallet(owner),
      market: fill.market,
      outcome: 0,
      side: (role === 'TAKER') === (fill.side === 'BUY') ? 'BUY' : 'SELL',
      price: fill.price / 100,
      size: fill.size,
      fee: '0',
      order_id: code(1),
      api_key: apiKey(owner),
    };
  });
