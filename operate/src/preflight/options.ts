import { join } from 'node:path';
import { firstPartitions } from '@pm/deploy/setup/partition-count';
import type { StackOptions } from '@pm/deploy/stack/stack';
import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import {
  type ConfigOf,
  clickhouseFields,
  kafkaFields,
  readConfig,
  redisCacheFields,
  redisFields,
  registryFields,
  storeFields,
} from '@pm/kit/config';
import { projectorsFields } from '@pm/projectors/config';
import type { WalletAddress } from '@pm/schemas/ids';

const fields = {
  ...kafkaFields,
  ...registryFields,
  ...clickhouseFields,
  ...redisFields,
  ...redisCacheFields,
  ...storeFields,
  ledgerSync: projectorsFields.ledgerSync,
};

/** Addresses and options that the exchange would be set up with. */
export interface PreflightOptions {
  readonly addresses: ConfigOf<typeof fields>;
  /** Copies of each topic. */
  readonly copies: number;
  /** Partitions of `orders` and of the other topics of matching. */
  readonly partitions: number;
  readonly feeWallet: WalletAddress;
  readonly hasStore: boolean;
  /** The keys of the installation; the file need not exist. */
  readonly keysFile: string;
}

/**
 * Set-up takes the same of its command line and of variables. Throws the `Fault` `invalid_config` (stop) for a
 * variable of an engine that is not sound.
 */
export function preflightOptions(
  setup: Pick<StackOptions, 'dataDir' | 'replicationFactor' | 'partitions' | 'feeWallet'>,
  env: Readonly<Record<string, string | undefined>>,
): PreflightOptions {
  const addresses = readConfig(fields, env, { known: Object.keys(env) });
  return {
    addresses,
    copies: setup.replicationFactor ?? 1,
    partitions: setup.partitions ?? firstPartitions.external,
    feeWallet: setup.feeWallet ?? defaultFeeWallet,
    hasStore: addresses.storeUrl !== '',
    keysFile: join(setup.dataDir, 'keys.json'),
  };
}
