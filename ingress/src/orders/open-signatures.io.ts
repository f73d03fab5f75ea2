import { acceptedDomains } from '@pm/domain/accounts/signing-domain';
import type { TopicsClient } from '@pm/domain/commands/topics.io';
import { OrderHasher } from '@pm/domain/orders/eip712';
import type { OrderCrypto } from '@pm/domain/orders/order-crypto.io';
import { SignatureRule } from '@pm/domain/orders/signature';
import { readOpening } from '@pm/domain/signoff/opening.io';
import type { Lifecycle } from '@pm/kit/lifecycle';
import { walletFromBytes } from '@pm/schemas/ids';
import type { IngressConfig } from '../config.ts';
import { SignaturePool } from './signature-pool.io.ts';

/**
 * Opens what checks signatures: their domains follow from the first record of the log, which also names the fee wallet.
 * Throws the `Fault` `partitions_not_opened` (stop) when setup has not run.
 */
export async function openSignatures(
  { client, names, codecs }: Pick<TopicsClient<'orders'>, 'client' | 'names' | 'codecs'>,
  {
    config,
    life,
    crypto,
  }: { readonly config: IngressConfig; readonly life: Lifecycle; readonly crypto: OrderCrypto },
) {
  const opening = await readOpening(client, { topic: names.orders, reader: codecs.orders });
  const domains = acceptedDomains(config, opening);
  const hasher = new OrderHasher(crypto.keccak, domains);
  const signatures = new SignaturePool({
    workers: config.signatureWorkers,
    workerFile: new URL('./signature-worker.io.js', import.meta.url),
    domains,
    rule: new SignatureRule(hasher, crypto.curve),
    hasher,
    curve: crypto.curve,
    onFault: (fault) => life.fail(fault),
  });
  life.onStop('signature workers', () => signatures.close());
  return { domains, hasher, signatures, feeWallet: walletFromBytes(opening.feeWallet) };
}
