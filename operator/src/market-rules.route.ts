import { noNotice } from '@pm/domain/catalog/facts';
import type { HttpApp } from '@pm/kit/http';
import { microText, parseMicro, parsePrice, priceText } from '@pm/schemas/decimal';
import {
  MarketRules,
  type MarketRulesResponse,
  ModeChange,
  OperatorEntryParams,
} from '@pm/schemas/http/operator-responses';
import type { CatalogMarket } from '@pm/schemas/log/catalog';
import { lotMicro, microPerUnit, orderSizeMaxMicro } from '@pm/schemas/money';
import type { CatalogServices } from './catalog/matcher-market.io.ts';
import { carryOut, changeMarket } from './catalog/matcher-market.io.ts';
import { changesTerms } from './catalog/traded-terms.io.ts';
import { type OperatorProblem, sendProblem } from './requests.io.ts';

/**
 * PUT /operator/markets/:id/rules: named rules change, the others stay. A tick only becomes finer (conventions.md 3.5).
 */
export function addSetMarketRoute(app: HttpApp, services: CatalogServices): void {
  const schema = { params: OperatorEntryParams, body: MarketRules };
  app.put('/operator/markets/:id/rules', { schema }, async (request, reply) => {
    const { body, params } = request;
    const done = await ruleMarket(Number(params.id), body, services);
    return 'status' in done ? await sendProblem(reply, done) : done;
  });
}

/** Changes rules of a market, or gives notice of its higher fee. */
export async function ruleMarket(
  number: number,
  sent: MarketRules,
  services: CatalogServices,
): Promise<MarketRulesResponse | OperatorProblem> {
  const changesAtMs = await noticeEndMs(number, sent, services);
  const done = await changeMarket(number, services, (one) => ruled(one, sent, changesAtMs));
  return 'status' in done ? done : { ...rulesOf(done.market), changed: done.changed };
}

/** Whether new rules need a second person; not when they are refused anyway. */
export async function changesTermsByRules(
  number: number,
  sent: MarketRules,
  services: CatalogServices,
): Promise<boolean> {
  const market = services.catalog.findMarket(number);
  if (market === undefined || market.payout0 >= 0) return false;
  const entry = ruled(market, sent, await noticeEndMs(number, sent, services));
  return !('status' in entry) && (await changesTerms(market, entry, services));
}

/** When a higher fee may begin that is asked for now, Unix milliseconds; 0 is at once. */
async function noticeEndMs(
  number: number,
  { feeRateBps }: MarketRules,
  { catalog, traded, clock, feeNoticeMs }: CatalogServices,
): Promise<number> {
  const market = catalog.findMarket(number);
  if (feeRateBps === undefined || market === undefined || feeNoticeMs === 0) return 0;
  return (await traded.isTraded(market)) ? clock.nowMs() + feeNoticeMs : 0;
}

/** The fee of a market, or the notice of it: the same notice again begins no later than the first one. */
function feeOf(market: CatalogMarket, sent: MarketRules, changesAtMs: number) {
  const { feeRateBps } = sent;
  if (feeRateBps === undefined) return {};
  if (feeRateBps <= market.feeRateBps || changesAtMs === 0) return { feeRateBps, ...noNotice };
  if (feeRateBps === market.nextFeeRateBps) return {};
  return { nextFeeRateBps: feeRateBps, feeChangesAtMs: changesAtMs };
}

/** The market under its new rules. */
function ruled(
  market: CatalogMarket,
  sent: MarketRules,
  changesAtMs: number,
): CatalogMarket | OperatorProblem {
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
    ...feeOf(market, sent, changesAtMs),
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
  const { nextFeeRateBps, feeChangesAtMs } = market;
  const notice = { nextFeeRateBps, feeChangesAt: new Date(feeChangesAtMs).toISOString() };
  return {
    id: String(market.market),
    tickSize: priceText(market.tick),
    minOrderSize: microText(market.minSizeMicro),
    feeRateBps: market.feeRateBps,
    ...(feeChangesAtMs === 0 ? {} : notice),
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
    const partitions = services.partitions.numbers;
    const problems = await Promise.all(
      partitions.map((partition) =>
        carryOut(services.commands, partition, command, 'TradingModeSet'),
      ),
    );
    const open = partitions.filter((_partition, index) => problems[index] !== null);
    const problem = problems.find((one) => one !== null);
    if (problem === undefined || problem === null) return { mode, partitions: partitions.length };
    const { status, text } = problem;
    return await reply.code(status).send({ error: text, partitions: open });
  });
}
