import type { Command, Envelope, KeyRole } from '@pm/schemas';

/**
 * Commands that each role may sign. The operator's `CancelOrders` closes markets, an ingress's cancels for its users.
 */
const allowed: Readonly<Record<KeyRole, readonly Command['kind'][]>> = {
  INGRESS: [
    'PlaceOrder',
    'CancelOrder',
    'CancelOrders',
    'SplitPosition',
    'MergePosition',
    'RedeemPosition',
  ],
  OWNER: ['Tick'],
  OPERATOR: [
    'OpenPartition',
    'SetKey',
    'SetMarket',
    'ResolveMarket',
    'StartGeneration',
    'CancelOrders',
    'SetTradingMode',
    'SetRules',
  ],
  LEDGER: ['StartGeneration'],
};

/** Whether a key of this role may sign every command of the envelope. */
export function roleAllows(role: KeyRole, envelope: Envelope): boolean {
  return envelope.commands.every((command) => allowed[role].includes(command.kind));
}
