import { rules } from '@pm/schemas/log/log-rules';
import type { Command, Envelope } from '@pm/schemas/log/orders';
import type { KeyRole } from '@pm/schemas/log/types';
import type { SignOffKey } from './sign-off-keys.ts';

/** Who may sign what: the key that opened the partition, or any other key by its role. */
export type Signer = KeyRole | 'OPENING';

const market = [
  'SetMarket',
  'ResolveMarket',
  'StartGeneration',
  'CancelOrders',
  'SetTradingMode',
] as const;

/**
 * Commands that each signer may sign. The operator's `CancelOrders` closes markets, an ingress's cancels for its users.
 */
const allowed: Readonly<Record<Signer, readonly Command['kind'][]>> = {
  INGRESS: [
    'PlaceOrder',
    'CancelOrder',
    'CancelByIds',
    'CancelOrders',
    'SplitPosition',
    'MergePosition',
    'RedeemPosition',
  ],
  OWNER: ['Tick'],
  OPERATOR: market,
  OPENING: [...market, 'OpenPartition', 'SetKey', 'SetRules'],
  LEDGER: ['StartGeneration'],
};

/** Role under which a listed key signs, in a partition that `openingKey` has opened. */
export function signerOf(
  { publicKey, role }: Pick<SignOffKey, 'publicKey' | 'role'>,
  openingKey: Buffer | null,
): Signer {
  return openingKey?.equals(publicKey) === true ? 'OPENING' : role;
}

/** Whether this signer may sign every command of the envelope, under these rules of the log. */
export function maySign(signer: Signer, envelope: Envelope, version: number): boolean {
  const mayWitness = signer === 'INGRESS' && version >= rules.witnessedClock;
  const mayClaim = signer === 'OWNER' && version >= rules.ownerTerms;
  return envelope.commands.every(
    ({ kind }) =>
      allowed[signer].includes(kind) ||
      (mayWitness && kind === 'Tick') ||
      (mayClaim && kind === 'ClaimPartition'),
  );
}
