import { keccak_256 } from '@noble/hashes/sha3.js';
import { walletFromBytes } from '@pm/schemas/ids';
import type { CommandOf } from '@pm/schemas/log/orders';
import { familyDomains, isFamilyDomain, type SigningDomain } from '@pm/schemas/signing';

/** The domains for which an installation accepts signatures: its own, and those of the API family if configured. */
export interface AcceptedDomains {
  readonly own: SigningDomain;
  readonly family: readonly SigningDomain[];
}

const ownName = 'Prediction Exchange';
const ownVersion = '2';
/** A chain that browser wallets have; the contracts, which exist on no chain, make a domain unique. */
const ownChainId = 137;

/**
 * The domain that belongs to the log: its contracts follow from the first record of the partition 0, which names the
 * operator's key, the fee wallet and the moment of the setup and never changes.
 */
export function derivedDomain(opening: CommandOf<'OpenPartition'>): SigningDomain {
  const contract = (role: string) => contractOf(role, opening);
  return {
    name: ownName,
    version: ownVersion,
    chainId: ownChainId,
    exchange: contract('exchange'),
    negRiskExchange: contract('neg-risk exchange'),
  };
}

function contractOf(
  role: string,
  { operatorKey, feeWallet, timeMs }: CommandOf<'OpenPartition'>,
): string {
  const label = Buffer.from(`prediction-exchange|${role}|${timeMs}|`, 'utf8');
  return walletFromBytes(
    Buffer.from(keccak_256(Buffer.concat([label, operatorKey, feeWallet]))).subarray(12),
  );
}

const addressPattern = /^0x[0-9a-f]{40}$/;
const nameMaxChars = 100;

/**
 * A configured domain. Null when the text is not JSON of that form, or names contracts of the API family, which many
 * exchanges share: `PM_FAMILY_DOMAINS` accepts those.
 */
export function parseSigningDomain(json: string): SigningDomain | null {
  const value = parsed(json);
  const { name, version, chainId, exchange, negRiskExchange } = value ?? {};
  if (!isName(name) || !isName(version)) return null;
  if (typeof chainId !== 'number' || !Number.isSafeInteger(chainId) || chainId < 1) return null;
  if (!isAddress(exchange) || !isAddress(negRiskExchange)) return null;
  const domain = { name, version, chainId, exchange, negRiskExchange };
  return isFamilyDomain(domain) || exchange === negRiskExchange ? null : domain;
}

function parsed(json: string): Partial<Record<keyof SigningDomain, unknown>> | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= nameMaxChars;
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && addressPattern.test(value);
}

/** The domains of a configuration on the log that the opening begins. */
export function acceptedDomains(
  config: { readonly signingDomain: SigningDomain | null; readonly familyDomains: boolean },
  opening: CommandOf<'OpenPartition'>,
): AcceptedDomains {
  return {
    own: config.signingDomain ?? derivedDomain(opening),
    family: config.familyDomains ? familyDomains : [],
  };
}
