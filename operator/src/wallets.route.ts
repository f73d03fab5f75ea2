import { unlessUnavailable } from '@pm/domain/requests/requests.io';
import type { BindFailure } from '@pm/domain/wallets/wallet-owners';
import type { ListedStatus } from '@pm/domain/wallets/wallet-statuses.io';
import type { ListedFreeze } from '@pm/domain/wallets/withdrawal-freezes.io';
import { type HttpApp, parseIntegerParam, type RawParam } from '@pm/kit/http';
import { microText } from '@pm/schemas/decimal';
import { WalletStatusChange } from '@pm/schemas/http/keys';
import {
  type BindingResult,
  BindWallets,
  type BindWalletsResult,
  WithdrawalFreezeChange,
} from '@pm/schemas/http/operator';
import { OperatorWalletParams } from '@pm/schemas/http/operator-responses';
import { checksumAddress, type WalletAddress } from '@pm/schemas/ids';
import type { WalletStatusKind } from '@pm/schemas/log/types';
import type { OperatorWalletServices } from './operator-services.io.ts';
import {
  addressOf,
  listedWalletsMax,
  notYet,
  type OperatorProblem,
  operatorOfRequest,
  refused,
  sendProblem,
} from './requests.io.ts';

const kinds = { normal: 'NORMAL', closed_only: 'CLOSED_ONLY', banned: 'BANNED' } as const;

/**
 * The status of a wallet: it may do everything, only sell and cancel, or nothing (conventions.md 2.3). It counts for
 * the wallet that signs and for the one that pays. A banned one cannot cancel, so its orders are taken off the books;
 * sent again, it is done again. GET lists the wallets that may not do everything.
 */
export function addWalletStatusRoutes(app: HttpApp, services: OperatorWalletServices): void {
  const { walletStatus } = services;
  const path = '/operator/wallets/:address/status';
  const schema = { params: OperatorWalletParams, body: WalletStatusChange };
  app.post(path, { schema }, async (request, reply) => {
    const { status } = request.body;
    const wallet = addressOf(request.params.address);
    const view = await setStatus(wallet, request.body, services);
    if (status !== 'banned') return view;
    const { canceled, isUnconfirmed } = await services.sweep(wallet);
    if (!isUnconfirmed) return { ...view, canceled };
    const error =
      'the wallet is banned, but not all of its orders are known to be canceled, try again';
    return await reply.code(503).send({ error, ...view, canceled });
  });
  app.get(path, { schema: { params: OperatorWalletParams } }, async (request) => {
    const wallet = addressOf(request.params.address);
    const listed = walletStatus.find(wallet);
    return statusView(listed ?? { wallet, status: 'NORMAL', reason: '', changedAtMs: 0 });
  });
  app.get('/operator/wallets', async (request, reply) => {
    const { limit } = request.query as { readonly limit?: RawParam };
    const max = parseIntegerParam(limit, { min: 1, max: listedWalletsMax });
    if (max !== null)
      return { data: walletStatus.restricted(max ?? listedWalletsMax).map(statusView) };
    return await reply.code(400).send({ error: `limit is 1 to ${listedWalletsMax}` });
  });
}

/** Sets what a wallet may do. Its orders are left alone. */
export async function setStatus(
  wallet: WalletAddress,
  { status, reason }: WalletStatusChange,
  { write }: Pick<OperatorWalletServices, 'write'>,
) {
  return statusView(await write.status.set(wallet, { status: kinds[status], reason }));
}

/** Whether a wallet may do more afterwards: a restriction can be set alone, and is taken away by two. */
export function liftsStatus(
  wallet: WalletAddress,
  { status }: WalletStatusChange,
  { walletStatus }: Pick<OperatorWalletServices, 'walletStatus'>,
): boolean {
  if (status === 'normal') return true;
  return status === 'closed_only' && walletStatus.find(wallet)?.status === 'BANNED';
}

function statusView({ wallet, status, reason, changedAtMs }: ListedStatus) {
  return {
    address: checksumAddress(wallet),
    status: status.toLowerCase() as Lowercase<WalletStatusKind>,
    reason,
    changedAt: changedAtMs === 0 ? null : new Date(changedAtMs).toISOString(),
  };
}

const bindBodyMaxBytes = 512 * 1024;

/** Why a binding was refused, in words. */
export const bindingErrors: Readonly<Partial<Record<BindingResult, string>>> = {
  taken: 'the wallet has another owner',
  reserved: 'the wallet or its owner is a reserved address',
  own_address: 'the owner is the wallet itself',
};

/** Why a request to bind has no results. Sent again it does nothing twice. */
export const bindFailures: Readonly<Record<BindFailure, OperatorProblem>> = {
  unconfirmed: notYet('it is not known yet whether the wallets are bound'),
  overloaded: notYet('nothing was bound'),
  full: refused('as many wallets are bound as can be kept'),
};

/**
 * POST /operator/wallet-owners binds contract wallets to addresses, one result per item in order, when the
 * records are durable and were read back (conventions.md 3.3). GET /operator/wallets/:address/owner says whose a
 * wallet is, and why.
 */
export function addWalletOwnerRoutes(app: HttpApp, services: OperatorWalletServices): void {
  const options = { schema: { body: BindWallets }, bodyLimit: bindBodyMaxBytes };
  app.post('/operator/wallet-owners', options, async (request, reply) => {
    const result = await bindWallets(request.body, operatorOfRequest(request).name, services);
    return 'status' in result ? await sendProblem(reply, result) : result;
  });
  app.get(
    '/operator/wallets/:address/owner',
    { schema: { params: OperatorWalletParams } },
    async (request) => {
      const wallet = addressOf(request.params.address);
      const ownership = services.owners.find(wallet);
      const bound = ownership?.basis === 'operator' ? ownership : null;
      return {
        address: checksumAddress(wallet),
        owner: ownership === undefined ? null : checksumAddress(ownership.owner),
        basis: ownership?.basis ?? null,
        boundBy: bound?.boundBy ?? null,
        boundAt: bound === null ? null : new Date(bound.boundAtMs).toISOString(),
        reserved: services.owners.isReserved(wallet),
      };
    },
  );
}

/** Binds wallets; one result per item in order. */
export async function bindWallets(
  { wallets }: BindWallets,
  boundBy: string,
  { bindings }: Pick<OperatorWalletServices, 'bindings'>,
): Promise<BindWalletsResult | OperatorProblem> {
  const results = await bindings.bind(wallets.map(bindingOf), boundBy);
  if (typeof results === 'string') return bindFailures[results];
  return { results: wallets.map((item, index) => resultOf(item, results[index])) };
}

/** Whether a request to bind names a wallet that has no owner: what it holds, and ever will, is bound for ever. */
export function bindsNewWallets(
  { wallets }: BindWallets,
  { owners }: Pick<OperatorWalletServices, 'owners'>,
): boolean {
  return wallets.some((one) => owners.judge(bindingOf(one)) === 'free');
}

function bindingOf({ wallet, owner }: BindWallets['wallets'][number]) {
  return { wallet: addressOf(wallet), owner: addressOf(owner) };
}

function resultOf(
  { wallet, owner }: BindWallets['wallets'][number],
  result: BindingResult = 'taken',
): BindWalletsResult['results'][number] {
  const error = bindingErrors[result];
  return { wallet, owner, result, ...(error === undefined ? {} : { error }) };
}

/**
 * Whose withdrawals are frozen; the zero address stands for every wallet. The solvency check freezes and closes what
 * does not add up; `frozen: false` clears both, whatever the money is by then. GET lists the frozen ones.
 */
export function addWithdrawalFreezeRoutes(app: HttpApp, services: OperatorWalletServices): void {
  const { freezes } = services;
  const path = '/operator/wallets/:address/withdrawal-freeze';
  const schema = { params: OperatorWalletParams, body: WithdrawalFreezeChange };
  app.post(path, { schema }, async (request) => {
    return await setFreeze(addressOf(request.params.address), request.body, services);
  });
  app.get(path, { schema: { params: OperatorWalletParams } }, async (request) => {
    const wallet = addressOf(request.params.address);
    const none = { frozen: false, unsound: false, freeMicro: 0, reason: '', changedAtMs: 0 };
    return freezeView(freezes.find(wallet) ?? { wallet, ...none });
  });
  app.get('/operator/withdrawal-freezes', async (request, reply) => {
    const { limit } = request.query as { readonly limit?: RawParam };
    const max = parseIntegerParam(limit, { min: 1, max: listedWalletsMax });
    if (max !== null) return { data: freezes.frozen(max ?? listedWalletsMax).map(freezeView) };
    return await reply.code(400).send({ error: `limit is 1 to ${listedWalletsMax}` });
  });
}

/** Freezes the withdrawals of a wallet, or clears that. */
export async function setFreeze(
  wallet: WalletAddress,
  { frozen, reason }: WithdrawalFreezeChange,
  { freezes, write, ledger }: Pick<OperatorWalletServices, 'freezes' | 'write' | 'ledger'>,
) {
  // A wallet can be frozen while the ledger is away, too.
  const balance = await unlessUnavailable(() => ledger.balance(wallet));
  const freeMicro = balance?.freeMicro ?? 0;
  const unsound = frozen && freezes.find(wallet)?.unsound === true;
  return freezeView(await write.freeze.set(wallet, { frozen, unsound, reason, freeMicro }));
}

function freezeView({ wallet, frozen, unsound, ...of }: ListedFreeze) {
  const { freeMicro, reason, changedAtMs } = of;
  const sign = freeMicro < 0 ? '-' : '';
  return {
    address: checksumAddress(wallet),
    frozen,
    unsound,
    free: `${sign}${microText(Math.abs(freeMicro))}`,
    reason,
    changedAt: changedAtMs === 0 ? null : new Date(changedAtMs).toISOString(),
  };
}
