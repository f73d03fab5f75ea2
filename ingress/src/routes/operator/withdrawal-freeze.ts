import { reactionTo } from '@pm/kit/fault';
import { type HttpApp, parseIntegerParam, type RawParam } from '@pm/kit/http';
import {
  checksumAddress,
  microText,
  type WalletAddress,
  WithdrawalFreezeChange,
} from '@pm/schemas';
import type { ListedFreeze } from '../../core/withdrawal-freezes.ts';
import type { OperatorPorts } from './ports.ts';
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
    const freeMicro = await freeOf(wallet, ledger);
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

/** 0 while the ledger is away: a wallet can be frozen then as well. */
async function freeOf(wallet: WalletAddress, ledger: OperatorPorts['ledger']): Promise<number> {
  try {
    return (await ledger.balance(wallet)).freeMicro;
  } catch (error) {
    if (reactionTo(error) !== 'retry') throw error;
    return 0;
  }
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
