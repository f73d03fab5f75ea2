import { type HttpApp, parseIntegerParam, type RawParam } from '@pm/kit/http';
import { checksumAddress, microText, WithdrawalFreezeChange } from '@pm/schemas';
import type { ListedFreeze } from '../accounts/withdrawal-freezes.ts';
import { unlessAway } from '../door/refusals.io.ts';
import type { OperatorPorts } from './ports.io.ts';
import { addressOf, listedWalletsMax, WalletParams } from './wallet-address.ts';

/**
 * Whose withdrawals are frozen. The solvency check freezes a wallet whose free money was below zero; `frozen: false` clears
 * it, whatever its money is by then. GET lists the frozen ones.
 */
export function addWithdrawalFreezeRoutes(app: HttpApp, ports: OperatorPorts): void {
  const { freezes, ledger } = ports;
  const path = '/operator/wallets/:address/withdrawal-freeze';
  const schema = { params: WalletParams, body: WithdrawalFreezeChange };
  app.post(path, { schema }, async (request) => {
    const wallet = addressOf(request.params.address);
    // A wallet can be frozen while the ledger is away, too.
    const balance = await unlessAway(() => ledger.balance(wallet));
    const freeMicro = balance?.freeMicro ?? 0;
    return freezeView(await freezes.set(wallet, { ...request.body, freeMicro }));
  });
  app.get(path, { schema: { params: WalletParams } }, async (request) => {
    const wallet = addressOf(request.params.address);
    const none = { wallet, frozen: false, freeMicro: 0, reason: '', changedAtMs: 0 };
    return freezeView(freezes.find(wallet) ?? none);
  });
  app.get('/operator/withdrawal-freezes', async (request, reply) => {
    const { limit } = request.query as { readonly limit?: RawParam };
    const max = parseIntegerParam(limit, { min: 1, max: listedWalletsMax });
    if (max !== null) return { data: freezes.frozen(max ?? listedWalletsMax).map(freezeView) };
    return await reply.code(400).send({ error: `limit is 1 to ${listedWalletsMax}` });
  });
}

function freezeView({ wallet, frozen, freeMicro, reason, changedAtMs }: ListedFreeze) {
  const sign = freeMicro < 0 ? '-' : '';
  return {
    address: checksumAddress(wallet),
    frozen,
    free: `${sign}${microText(Math.abs(freeMicro))}`,
    reason,
    changedAt: changedAtMs === 0 ? null : new Date(changedAtMs).toISOString(),
  };
}
