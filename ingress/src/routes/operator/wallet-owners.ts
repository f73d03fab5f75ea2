import type { HttpApp } from '@pm/kit/http';
import {
  type BindingResult,
  BindWallets,
  type BindWalletsResult,
  checksumAddress,
} from '@pm/schemas';
import type { BindFailure } from '../../core/wallet-owners.ts';
import { operatorNameOf } from './audit.ts';
import type { OperatorPorts } from './ports.ts';
import { notYet, type RuleProblem, refused, sendProblem } from './problem.ts';
import { addressOf, WalletParams } from './wallet-address.ts';

const bindBodyMaxBytes = 512 * 1024;

/** Why a binding was refused, in words. */
export const bindingErrors: Readonly<Partial<Record<BindingResult, string>>> = {
  taken: 'the wallet has another owner',
  reserved: 'the wallet or its owner is a reserved address',
  own_address: 'the owner is the wallet itself',
};

/** Why a request to bind has no results. Sent again it does nothing twice. */
export const bindFailures: Readonly<Record<BindFailure, RuleProblem>> = {
  unconfirmed: notYet('it is not known yet whether the wallets are bound'),
  overloaded: notYet('nothing was bound'),
  full: refused('as many wallets are bound as can be kept'),
};

/**
 * POST /operator/wallet-owners binds contract wallets to addresses, one result per item in order; answered when the
 * records are durable and were read back (conventions.md 3.3). GET /operator/wallets/:address/owner says whose a
 * wallet is, and why.
 */
export function addWalletOwnerRoutes(app: HttpApp, ports: OperatorPorts): void {
  const options = { schema: { body: BindWallets }, bodyLimit: bindBodyMaxBytes };
  app.post('/operator/wallet-owners', options, async (request, reply) => {
    const { wallets } = request.body;
    const bindings = wallets.map(({ wallet, owner }) => ({
      wallet: addressOf(wallet),
      owner: addressOf(owner),
    }));
    const results = await ports.bindings.bind(bindings, operatorNameOf(request));
    if (typeof results === 'string') return await sendProblem(reply, bindFailures[results]);
    return { results: wallets.map((item, index) => resultOf(item, results[index])) };
  });
  app.get(
    '/operator/wallets/:address/owner',
    { schema: { params: WalletParams } },
    async (request) => {
      const wallet = addressOf(request.params.address);
      const ownership = ports.owners.find(wallet);
      const bound = ownership?.basis === 'operator' ? ownership : null;
      return {
        address: checksumAddress(wallet),
        owner: ownership === undefined ? null : checksumAddress(ownership.owner),
        basis: ownership?.basis ?? null,
        boundBy: bound?.boundBy ?? null,
        boundAt: bound === null ? null : new Date(bound.boundAtMs).toISOString(),
        reserved: ports.owners.isReserved(wallet),
      };
    },
  );
}

function resultOf(
  { wallet, owner }: BindWallets['wallets'][number],
  result: BindingResult = 'taken',
): BindWalletsResult['results'][number] {
  const error = bindingErrors[result];
  return { wallet, owner, result, ...(error === undefined ? {} : { error }) };
}
