import { claimsApiKey } from '@pm/domain/accounts/key-claim';
import type { ApiKeyId, WalletAddress } from '@pm/schemas';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AuthPorts, refuseUnproven, signedFacts } from '../door/authentication.io.ts';
import { proveWallet, type WalletPorts } from './prove-wallet.io.ts';

/** Who asks about the keys of a wallet. */
export interface KeyOwner {
  readonly wallet: WalletAddress;
  /** How it was proven: by one of the keys, or by the wallet itself with the nonce of one. */
  readonly by: { readonly apiKey: ApiKeyId } | { readonly nonce: string };
}

/**
 * Proves the owner of keys by one of them or, as ccxt does, by the wallet's own signature: whoever sends the headers of an API
 * key is judged by it alone. Null after the refusal was sent (conventions.md 1.2).
 */
export function proveOwner(
  request: FastifyRequest,
  reply: FastifyReply,
  ports: AuthPorts & WalletPorts,
): KeyOwner | null {
  if (claimsApiKey(request.headers)) {
    const holder = ports.verify(signedFacts(request));
    if (holder !== null) return { wallet: holder.wallet, by: { apiKey: holder.apiKey } };
    refuseUnproven(request, reply, ports);
    return null;
  }
  const claim = proveWallet(request, reply, ports);
  return claim === null ? null : { wallet: claim.address, by: { nonce: claim.nonce } };
}
