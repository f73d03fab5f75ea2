import type { HttpApp } from '@pm/kit/http';
import {
  type CatalogMarket,
  lotMicro,
  microPerUnit,
  microText,
  orderSizeMaxMicro,
  parseMicro,
  parsePrice,
  priceText,
} from '@pm/schemas';
import { type Static, Type } from 'typebox';
import { MarketId } from './market-id.ts';
import { changeMarket } from './market-rules.ts';
import type { OperatorPorts } from './ports.ts';
import { type RuleProblem, sendProblem } from './problem.ts';

/** A delay longer than this is a mistake, milliseconds. */
const takerDelayMaxMs = 60_000;

const Rules = Type.Object(
  {
    tickSize: Type.Optional(Type.String({ pattern: '^0\\.(1|01|005|0025|001|0001)$' })),
    minOrderSize: Type.Optional(Type.String({ pattern: '^[0-9]{1,9}(\\.[0-9]{1,2})?$' })),
    feeRateBps: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
    rebateBps: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
    takerDelayMs: Type.Optional(Type.Integer({ minimum: 0, maximum: takerDelayMaxMs })),
    rewardsDailyRate: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
    rewardsMinSize: Type.Optional(Type.String({ pattern: '^[0-9]{1,9}(\\.[0-9]{1,2})?$' })),
    rewardsMaxSpread: Type.Optional(Type.String({ pattern: '^0(\\.[0-9]{1,4})?$' })),
  },
  { additionalProperties: false },
);

/**
 * PUT /operator/markets/:id/rules: what is named becomes so, the rest stays. A tick only becomes finer (conventions.md 4.3).
 */
export function addSetMarketRoute(app: HttpApp, ports: OperatorPorts): void {
  const schema = { params: MarketId, body: Rules };
  app.put('/operator/markets/:id/rules', { schema }, async (request, reply) => {
    const { body, params } = request;
    const done = await changeMarket(Number(params.id), ports, (market) => ruled(market, body));
    if ('status' in done) return await sendProblem(reply, done);
    return { ...rulesOf(done.market), changed: done.changed };
  });
}

/** The market under its new rules. */
function ruled(market: CatalogMarket, sent: Static<typeof Rules>): CatalogMarket | RuleProblem {
  if (Object.keys(sent).length === 0) return market;
  const tick = sent.tickSize === undefined ? market.tick : parsePrice(sent.tickSize);
  if (tick === null || tick === 0 || market.tick % tick !== 0) return cannotBe('tickSize');
  const minSizeMicro = sizeOf(sent.minOrderSize, market.minSizeMicro);
  if (minSizeMicro < lotMicro || minSizeMicro > orderSizeMaxMicro) return cannotBe('minOrderSize');
  const spread = sent.rewardsMaxSpread;
  const daily = sent.rewardsDailyRate;
  return {
    ...market,
    tick,
    minSizeMicro,
    feeRateBps: sent.feeRateBps ?? market.feeRateBps,
    rebateBps: sent.rebateBps ?? market.rebateBps,
    takerDelayMs: sent.takerDelayMs ?? market.takerDelayMs,
    rewardsDailyMicro:
      daily === undefined ? market.rewardsDailyMicro : Math.round(daily * microPerUnit),
    rewardsMinSizeMicro: sizeOf(sent.rewardsMinSize, market.rewardsMinSizeMicro),
    rewardsMaxSpread: spread === undefined ? market.rewardsMaxSpread : (parsePrice(spread) ?? 0),
  };
}

function cannotBe(rule: keyof Static<typeof Rules>): RuleProblem {
  return { status: 400, text: `/${rule} cannot be so`, path: `/${rule}` };
}

function sizeOf(text: string | undefined, known: number): number {
  return text === undefined ? known : (parseMicro(text) ?? 0);
}

function rulesOf(market: CatalogMarket) {
  return {
    id: String(market.market),
    tickSize: priceText(market.tick),
    minOrderSize: microText(market.minSizeMicro),
    feeRateBps: market.feeRateBps,
    rebateBps: market.rebateBps,
    takerDelayMs: market.takerDelayMs,
    rewardsDailyRate: market.rewardsDailyMicro / microPerUnit,
    rewardsMinSize: microText(market.rewardsMinSizeMicro),
    rewardsMaxSpread: priceText(market.rewardsMaxSpread),
  };
}
