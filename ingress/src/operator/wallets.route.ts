import { type HttpApp, parseIntegerParam, type RawParam } from '@pm/kit/http';
import { checksumAddress, WalletStatusChange, type WalletStatusKind } from '@pm/schemas';
import type { ListedStatus } from '../accounts/wallet-statuses.ts';
import type { OperatorPorts } from './ports.io.ts';
import { addressOf, listedWalletsMax, WalletParams } from './wallet-address.ts';

const kinds = { normal: 'NORMAL', closed_only: 'CLOSED_ONLY', banned: 'BANNED' } as const;

/**
 * What a wallet may do: everything, only sell and cancel, or nothing (conventions.md 2.3). It counts for the wallet that
 * signs and for the one that pays. A banned one cannot cancel, so its orders are taken off the books; sent again, it is done
 * again. GET lists the wallets that may not do everything.
 */
export function addWalletStatusRoutes(app: HttpApp, ports: OperatorPorts): void {
  const { walletStatus } = ports;
  const path = '/operator/wallets/:address/status';
  const schema = { params: WalletParams, body: WalletStatusChange };
  app.post(path, { schema }, async (request, reply) => {
    const { status, reason } = request.body;
    const wallet = addressOf(request.params.address);
    const view = statusView(await walletStatus.set(wallet, { status: kinds[status], reason }));
    if (status !== 'banned') return view;
    const { canceled, isUnconfirmed } = await ports.sweep(wallet);
    if (!isUnconfirmed) return { ...view, canceled };
    const error =
      'the wallet is banned, but not all of its orders are known to be canceled, try again';
    return await reply.code(503).send({ error, ...view, canceled });
  });
  app.get(path, { schema: { params: WalletParams } }, async (request) => {
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

function statusView({ wallet, status, reason, changedAtMs }: ListedStatus) {
  return {
    address: checksumAddress(wallet),
    status: status.toLowerCase() as Lowercase<WalletStatusKind>,
    reason,
    changedAt: changedAtMs === 0 ? null : new Date(changedAtMs).toISOString(),
  };
}
