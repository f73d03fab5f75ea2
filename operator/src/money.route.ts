import type { Binding } from '@pm/domain/wallets/wallet-owners';
import { type PaidWithdrawal, withdraw } from '@pm/domain/wallets/withdrawals.io';
import type { HttpApp } from '@pm/kit/http';
import { microText, parseMicro } from '@pm/schemas/decimal';
import {
  Deposits,
  type DepositsResult,
  Withdrawals,
  type WithdrawalsResult,
} from '@pm/schemas/http/operator';
import {
  hexBytes,
  orderIdFromBytes,
  parseOrderId,
  parseWalletAddress,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas/ids';
import type { Transfer } from '@pm/schemas/log/accounts';
import { microPerUnit } from '@pm/schemas/money';
import { type RefusalCode, refusals } from '@pm/schemas/refusals';
import type { OperatorMoneyServices } from './operator-services.io.ts';
import { addressOf, type OperatorProblem, operatorOfRequest, sendProblem } from './requests.io.ts';
import { bindFailures, bindingErrors } from './wallets.route.ts';

const depositsBodyMaxBytes = 512 * 1024;

/**
 * Largest amount that a wallet may hold after a deposit: a billion USDC, in micro-USDC. The ledger counts exactly up to
 * 2^53 of them, and the fold of a log that brings a wallet beyond stops for good.
 */
const walletMoneyMaxMicro = 1_000_000_000 * microPerUnit;

type Deposit = Deposits['deposits'][number];

/**
 * POST /operator/deposits: money comes in; the response comes when it is durable; the ledger applies each transfer id
 * once. Where an item names an `owner` its wallet is bound first; when one of them has another owner, no money is
 * written.
 */
export function addDepositsRoute(app: HttpApp, services: OperatorMoneyServices): void {
  const options = { schema: { body: Deposits }, bodyLimit: depositsBodyMaxBytes };
  app.post('/operator/deposits', options, async (request, reply) => {
    const { name } = operatorOfRequest(request);
    const result = await creditWallets(request.body, name, services);
    return 'status' in result ? await sendProblem(reply, result) : result;
  });
}

/** Whether deposits need a second person: they bind a wallet, or pass the limit of the day, and are not refused. */
export async function needsTwoToDeposit(
  { deposits }: Deposits,
  who: string,
  services: OperatorMoneyServices,
): Promise<boolean> {
  const transfers = readTransfers(deposits, services);
  if (!Array.isArray(transfers)) return false;
  const bindings = deposits.flatMap(({ wallet, owner }) =>
    owner === undefined ? [] : [{ wallet: addressOf(wallet), owner: addressOf(owner) }],
  );
  if (bindings.some((one) => services.owners.judge(one) === 'free')) return true;
  const sumMicro = transfers.reduce((sum, { amountMicro }) => sum + amountMicro, 0);
  return !(await services.approvals.movesAlone('deposit', who, sumMicro));
}

/** Whether withdrawals need a second person: they pass the limit of the day. */
export async function needsTwoToPayOut(
  { withdrawals }: Withdrawals,
  who: string,
  { approvals }: OperatorMoneyServices,
): Promise<boolean> {
  const sumMicro = withdrawals.reduce((sum, { amount }) => sum + (parseMicro(amount) ?? 0), 0);
  return !(await approvals.movesAlone('withdrawal', who, sumMicro));
}

/** Binds wallets whose owner is named, then writes the deposits; resolves when they are durable. */
export async function creditWallets(
  { deposits }: Deposits,
  boundBy: string,
  services: OperatorMoneyServices,
): Promise<DepositsResult | OperatorProblem> {
  const transfers = readTransfers(deposits, services);
  if (!Array.isArray(transfers)) return transfers;
  const problem =
    (await excessIn(transfers, services)) ?? (await bindOwners(deposits, boundBy, services));
  if (problem !== null) return problem;
  await services.writer.writeTransfers(transfers);
  return { accepted: transfers.length };
}

/** The deposits as records, or what is wrong with the first bad one. */
function readTransfers(
  deposits: readonly Deposit[],
  { clock, owners }: OperatorMoneyServices,
): Transfer[] | OperatorProblem {
  const timeMs = clock.nowMs();
  const transfers: Transfer[] = [];
  for (const [index, deposit] of deposits.entries()) {
    const amountMicro = parseMicro(deposit.amount);
    if (amountMicro === null || amountMicro === 0) {
      return wrong(`/deposits/${index}/amount`, 'is no amount above 0');
    }
    const wallet = addressOf(deposit.wallet);
    if (!owners.takesDeposits(wallet)) {
      return wrong(`/deposits/${index}/wallet`, 'is a reserved address');
    }
    const transferId = Buffer.from(deposit.transferId.slice(2), 'hex');
    transfers.push({ transferId, wallet: hexBytes(wallet), amountMicro, timeMs, generation: 0 });
  }
  return transfers;
}

/** The first deposit that brings its wallet beyond what it may hold; null when none does. Applied ones count once. */
async function excessIn(
  transfers: readonly Transfer[],
  { ledger }: OperatorMoneyServices,
): Promise<OperatorProblem | null> {
  const held = new Map<WalletAddress, number>();
  await Promise.all(
    [...new Set(transfers.map(({ wallet }) => walletFromBytes(wallet)))].map(async (wallet) => {
      const { freeMicro, heldMicro } = await ledger.balance(wallet);
      held.set(wallet, freeMicro + heldMicro);
    }),
  );
  for (const [index, { wallet: bytes, transferId, amountMicro }] of transfers.entries()) {
    const wallet = walletFromBytes(bytes);
    const sumMicro = (held.get(wallet) ?? 0) + amountMicro;
    const isAbove = sumMicro > walletMoneyMaxMicro;
    if (isAbove && (await ledger.appliedTransfer(orderIdFromBytes(transferId))) === null) {
      const path = `/deposits/${index}/amount`;
      const text = `${path} brings the wallet above ${microText(walletMoneyMaxMicro)} USDC`;
      return { status: 409, text, path };
    }
    held.set(wallet, isAbove ? sumMicro - amountMicro : sumMicro);
  }
  return null;
}

/** A binding that a deposit asks for, and its place in the body. */
interface AskedBinding extends Binding {
  readonly path: string;
}

/**
 * Binds the wallets whose owner is named; null when each of them is that owner's. All are judged before any is bound.
 */
async function bindOwners(
  deposits: readonly Deposit[],
  boundBy: string,
  { owners, bindings }: OperatorMoneyServices,
): Promise<OperatorProblem | null> {
  const asked = deposits.flatMap(({ wallet, owner }, index): AskedBinding[] => {
    if (owner === undefined) return [];
    const path = `/deposits/${index}/owner`;
    return [{ wallet: addressOf(wallet), owner: addressOf(owner), path }];
  });
  if (asked.length === 0) return null;
  const problem = contradictionIn(asked) ?? refusalIn(asked, (one) => owners.judge(one));
  if (problem !== null) return problem;
  const results = await bindings.bind(asked, boundBy);
  if (typeof results === 'string') return bindFailures[results];
  return refusalIn(asked, (_one, index) => results[index] ?? 'taken');
}

/** One wallet with two owners in one request. */
function contradictionIn(asked: readonly AskedBinding[]): OperatorProblem | null {
  const named = new Map<WalletAddress, WalletAddress>();
  for (const { wallet, owner, path } of asked) {
    const other = named.get(wallet);
    if (other !== undefined && other !== owner) return wrong(path, 'differs from an owner before');
    named.set(wallet, owner);
  }
  return null;
}

function refusalIn(
  asked: readonly AskedBinding[],
  judge: (one: AskedBinding, index: number) => keyof typeof statuses | 'bound' | 'already' | 'free',
): OperatorProblem | null {
  for (const [index, one] of asked.entries()) {
    const result = judge(one, index);
    if (result === 'bound' || result === 'already' || result === 'free') continue;
    const text = `${one.path}: ${bindingErrors[result]}`;
    return { status: statuses[result], text, path: one.path };
  }
  return null;
}

const statuses = { taken: 409, reserved: 400, own_address: 400 } as const;

function wrong(path: string, reason: string): OperatorProblem {
  return { status: 400, text: `${path} ${reason}`, path };
}

const withdrawalsBodyMaxBytes = 512 * 1024;

/** Withdrawals of one request that are under way at once; each may wait for the ledger for some seconds. */
const concurrentMax = 50;

/**
 * POST /operator/withdrawals: money goes out, each transfer id once. One result per item: `accepted` with the amount
 * that was paid, else why not; the same again may be sent at any time.
 */
export function addWithdrawalsRoute(app: HttpApp, services: OperatorMoneyServices): void {
  const options = { schema: { body: Withdrawals }, bodyLimit: withdrawalsBodyMaxBytes };
  app.post('/operator/withdrawals', options, (request) => payOut(request.body, services));
}

/** Pays out, some at a time. */
export async function payOut(
  { withdrawals }: Withdrawals,
  services: OperatorMoneyServices,
): Promise<WithdrawalsResult> {
  const results: WithdrawalsResult['results'] = [];
  for (let from = 0; from < withdrawals.length; from += concurrentMax) {
    const some = withdrawals.slice(from, from + concurrentMax);
    results.push(...(await Promise.all(some.map((one) => carryOut(one, services)))));
  }
  return { results };
}

async function carryOut(
  { transferId: id, wallet: address, amount }: Withdrawals['withdrawals'][number],
  services: OperatorMoneyServices,
): Promise<WithdrawalsResult['results'][number]> {
  const transferId = parseOrderId(id);
  const wallet = parseWalletAddress(address);
  const amountMicro = parseMicro(amount) ?? 0;
  const isSound = transferId !== null && wallet !== null && amountMicro > 0;
  const paid = isSound
    ? await withdraw({ transferId, wallet, amountMicro }, services)
    : 'invalid_payload';
  return { transferId: id, ...resultOf(paid) };
}

function resultOf(paid: PaidWithdrawal | RefusalCode) {
  if (typeof paid !== 'string') return { accepted: true, paid: microText(paid.paidMicro) };
  return { accepted: false, code: paid, error: refusals[paid].text };
}
