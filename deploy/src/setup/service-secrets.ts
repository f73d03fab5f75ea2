import type { ExchangeKeys } from './keys.ts';

type Variables = Readonly<Record<string, string>>;

/** Services that get secrets or keys; the MCP server and the gateway get none. */
export type KeptService =
  | 'ingress'
  | 'operator'
  | 'matcher'
  | 'projectors'
  | 'query-api'
  | 'streams';

/** The variables of each service that follow from the keys of an installation: no service gets those of another. */
export function serviceSecrets(keys: ExchangeKeys): Readonly<Record<KeptService, Variables>> {
  const root = { PM_ROOT_KEY: keys.rootKey };
  const keyed = {
    ...root,
    PM_KEY_SECRET: keys.keySecret,
    ...(keys.acceptedKeySecrets && { PM_KEY_SECRETS_ACCEPTED: keys.acceptedKeySecrets }),
  };
  const reads = { ...keyed, PM_BOOK_SECRET: keys.bookSecret };
  return {
    ingress: { ...keyed, PM_SIGNOFF_SEED: keys.ingressSeed },
    operator: { ...root, PM_OPERATOR_SEED: keys.operatorSeed },
    matcher: {
      ...root,
      PM_OWNER_SEED: keys.ownerSeed,
      PM_OPERATOR_KEY: keys.openingKey,
    },
    projectors: { ...root, PM_LEDGER_SEED: keys.ledgerSeed },
    'query-api': reads,
    streams: reads,
  };
}
