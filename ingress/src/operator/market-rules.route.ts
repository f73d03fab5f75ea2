import type { HttpApp } from '@pm/kit/http';
import {
  type CatalogMarket,
  lotMicro,
  MarketRules,
  ModeChange,
  microPerUnit,
  microText,
  OperatorEntryParams,
  orderSizeMaxMicro,
  parseMicro,
  parsePrice,
  priceText,
} from '@pm/schemas';
import type { CatalogServices } from '../catalog/matcher-market.io.ts';
import { carryOut, changeMarket } from '../catalog/matcher-market.io.ts';
import { type OperatorProblem, sendProblem } from './requests.io.ts';

/**
 * PUT /operator/markets/:id/rules: named rules change, the others stay. A tick only becomes finer (conventions.md 3.5).
 */
export function addSetMarketRoute(app: HttpApp, services: CatalogServices): void {
  const schema = { params: OperatorEntryParams, body: MarketRules };
  app.put('/operator/markets/:id/rules', { schema }, async (request, reply) => {
    const { body, params } = request;
    const done = await changeMarket(Number(params.id), services, (market) => ruled(market, body));
    if ('status' in done) return await sendProblem(reply, done);
    return { ...rulesOf(done.market), changed: done.changed };
  });
}

/** The market under its new rules. */
function ruled(market: CatalogMarket, sent: MarketRules): CatalogMarket | OperatorProblem {
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

function cannotBe(rule: keyof MarketRules): OperatorProblem {
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

/** POST /operator/markets/:id/mode: what the market takes from now on. */
export function addMarketModeRoute(app: HttpApp, services: CatalogServices): void {
  const schema = { params: OperatorEntryParams, body: ModeChange };
  app.post('/operator/markets/:id/mode', { schema }, async (request, reply) => {
    const { mode } = request.body;
    const { id } = request.params;
    const done = await changeMarket(Number(id), services, (market) => ({ ...market, mode }));
    return 'status' in done ? await sendProblem(reply, done) : { id, mode };
  });
}

/**
 * POST /operator/trading-mode: the most that all markets take, in every partition. Partitions without a result are
 * named with 503; the same again completes it.
 */
export function addTradingModeRoute(app: HttpApp, services: CatalogServices): void {
  app.post('/operator/trading-mode', { schema: { body: ModeChange } }, async (request, reply) => {
    const { mode } = request.body;
    const command = { kind: 'SetTradingMode', mode } as const;
    const partitions = [...Array(services.partitions).keys()];
    const problems = await Promise.all(
      partitions.map((partition) =>
        carryOut(services.commands, partition, command, 'TradingModeSet'),
      ),
    );
    const open = partitions.filter((partition) => problems[partition] !== null);
    const problem = problems.find((one) => one !== null);
    if (problem === undefined || problem === null) return { mode, partitions: partitions.length };
    const { status, text } = problem;
    return await reply.code(status).send({ error: text, partitions: open });
  });
}
