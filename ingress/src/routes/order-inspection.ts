import { reactionTo } from '@pm/kit/fault';
import {
  hexBytes,
  microText,
  type OrderId,
  orderIdFromBytes,
  priceText,
  type RefusalCode,
  refusalText,
} from '@pm/schemas';
import { type Caller, checkOrder, type DoorRefusal, type SoundOrder } from '../core/check-order.ts';
import type { ListedToken } from '../core/listed-token.ts';
import { type IsSubmission, type OrderForm, readOrderForm } from '../core/order-form.ts';
import type { SignatureJob } from '../core/order-signature.ts';
import type { DoorPorts } from './ports.ts';

type InspectionPorts = Pick<
  DoorPorts,
  'answers' | 'hashes' | 'ledger' | 'markets' | 'owners' | 'partitions' | 'signatures'
>;

/** Every check of placing, without placing: nothing is held, remembered or sent (conventions.md 3.11). */
export async function inspectOrder(
  item: unknown,
  { caller, isSubmission }: { readonly caller: Caller; readonly isSubmission: IsSubmission },
  ports: InspectionPorts,
) {
  const read = readOrderForm(item, isSubmission);
  if (read.kind !== 'form') {
    const code = read.kind === 'refused' ? read.code : 'invalid_payload';
    return { valid: false, code, errorMsg: refusalText(code) };
  }
  const { form } = read;
  const checked = checkOrder(form, caller, ports);
  const token = ports.markets.findToken(form.tokenId);
  const signature = await readSignature(form, { caller, token }, ports);
  const money = checked.kind === 'sound' ? await readMoney(checked, ports) : null;
  const problem = problemOf(checked, { signature, money }, ports);
  const facts = { ...problem?.facts, id: signature.orderHash ?? signature.likelyHash };
  return {
    valid: problem === null,
    ...(problem === null ? {} : { code: problem.code }),
    errorMsg: problem === null ? '' : (problem.text ?? refusalText(problem.code, facts)),
    orderID: signature.orderHash ?? '',
    known: isKnown(signature.orderHash, ports),
    signature,
    order: checked.kind === 'sound' ? amountsOf(checked) : null,
    money,
    market: token === undefined ? null : rulesOf(token, ports),
  };
}

type Signature = Awaited<ReturnType<typeof readSignature>>;
type Money = Awaited<ReturnType<typeof readMoney>>;

/** Who had to sign what, and who did, domain by domain. */
async function readSignature(
  form: OrderForm,
  { caller, token }: { readonly caller: Caller; readonly token: ListedToken | undefined },
  { hashes, signatures }: InspectionPorts,
) {
  const structHash = hashes.structHash(form.struct);
  const negRisk = token?.market.negRisk ?? false;
  const job: SignatureJob = {
    signature: form.signature,
    structHash,
    wrapped: form.struct.signatureType === 3,
    negRisk,
    owner: hexBytes(caller.address),
    maker: form.struct.maker,
  };
  const [verdict = null] = (await signatures.check([job])) ?? [];
  return {
    valid: verdict !== null,
    signatureType: form.struct.signatureType,
    expected: caller.address,
    structHash: `0x${structHash.toString('hex')}`,
    orderHash: verdict === null ? null : orderIdFromBytes(verdict),
    likelyHash: hashes.likelyId(structHash, negRisk),
    domains: signatures.explain(job),
  };
}

/** What the order must have in hand, and whether it is there; null for what nobody can say now. */
async function readMoney({ form, holdMicro }: SoundOrder, { ledger }: InspectionPorts) {
  const needed = { wallet: form.maker, needed: microText(holdMicro) };
  // Tokens are known to the matcher alone.
  if (form.struct.side === 'SELL') return { ...needed, available: null, sufficient: null };
  try {
    const { availableMicro } = await ledger.balance(form.maker);
    const available = microText(availableMicro);
    return { ...needed, available, sufficient: availableMicro >= holdMicro };
  } catch (error) {
    if (reactionTo(error) !== 'retry') throw error;
    return { ...needed, available: null, sufficient: null };
  }
}

/** The first refusal that placing would meet. */
function problemOf(
  checked: SoundOrder | DoorRefusal,
  at: { readonly signature: Signature; readonly money: Money | null },
  ports: InspectionPorts,
): Omit<DoorRefusal, 'kind'> | null {
  if (checked.kind === 'refused') return checked;
  if (!at.signature.valid) return { code: 'invalid_signature' };
  if (isKnown(at.signature.orderHash, ports)) return null;
  if (checked.forbidden !== null) return checked.forbidden;
  if (checked.doubt !== null) return checked.doubt;
  const code = outageOf(checked, at.money, ports);
  return code === null ? null : { code };
}

function outageOf(
  { token }: SoundOrder,
  money: Money | null,
  { partitions }: InspectionPorts,
): RefusalCode | null {
  if (!partitions.isReady(token.market.partition)) return 'partition_not_ready';
  return money?.sufficient === false ? 'insufficient_balance_or_allowance' : null;
}

/** Whether the order has an answer already: placing it again would give that. */
function isKnown(orderId: OrderId | null, { answers }: InspectionPorts): boolean {
  return orderId !== null && answers.recall(orderId) !== undefined;
}

function amountsOf({ form, amounts, expiresAtMs }: SoundOrder) {
  return {
    side: form.struct.side,
    orderType: form.timeInForce,
    postOnly: form.postOnly,
    price: priceText(amounts.price),
    size: microText(amounts.sizeMicro),
    budget: microText(amounts.budgetMicro),
    leaves_book_at: expiresAtMs === 0 ? null : new Date(expiresAtMs).toISOString(),
  };
}

function rulesOf({ market, conditionId, outcome }: ListedToken, { partitions }: InspectionPorts) {
  return {
    condition_id: conditionId,
    outcome,
    mode: market.mode,
    neg_risk: market.negRisk,
    minimum_tick_size: priceText(market.tick),
    min_order_size: microText(market.minSizeMicro),
    fee_rate_bps: market.feeRateBps,
    taker_delay_ms: market.takerDelayMs,
    ready: partitions.isReady(market.partition),
  };
}
