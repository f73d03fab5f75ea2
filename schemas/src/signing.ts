/**
 * Domain of the signatures of wallets (EIP-712): of the order struct of version 2 and the L1 attestation
 * (conventions.md 2.1, 3.2). Each installation has a domain of its own, so that a signature for one means nothing to
 * another.
 */
export interface SigningDomain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  /** Verifying contract of ordinary markets, lower case. */
  readonly exchange: string;
  /** Verifying contract of neg-risk markets, lower case. */
  readonly negRiskExchange: string;
}

const kuest = { name: 'CTF Exchange', version: '2' };
const polymarket = { name: 'Polymarket CTF Exchange', version: '2' };

/** Contracts that published clients sign for, on both chains they use. */
const familyContracts = [
  {
    ...polymarket,
    exchange: '0xe111180000d2663c0091e4f400237545b87b996b',
    negRiskExchange: '0xe2222d279d744050d28e00520010520000310f59',
  },
  {
    ...kuest,
    exchange: '0xaa1b8de834e16ec69c044f5300041673c968c9ef',
    negRiskExchange: '0xe7fa09ca716fdf498d74aff618d32afeacc310ab',
  },
  {
    ...kuest,
    exchange: '0xacd95f4f42322c7be215c170362eec57ef4e78c2',
    negRiskExchange: '0x961d3230b3bbdb2592d20fa34dbd12fa19240603',
  },
] as const;

/** Chains that published clients sign for. */
const familyChainIds = [137, 80002] as const;

/**
 * Domains of the API family, the likeliest first; an installation accepts them where it is configured to
 * (`PM_FAMILY_DOMAINS`). Other exchanges accept them as well, so an order signed for one can be carried out there.
 */
export const familyDomains: readonly SigningDomain[] = familyChainIds.flatMap((chainId) =>
  familyContracts.map((contracts) => ({ ...contracts, chainId })),
);

/** Whether one of the contracts belongs to the API family, on any chain. */
export function isFamilyDomain({
  exchange,
  negRiskExchange,
}: Pick<SigningDomain, 'exchange' | 'negRiskExchange'>): boolean {
  const contracts = [exchange.toLowerCase(), negRiskExchange.toLowerCase()];
  return familyContracts.some((known) =>
    [known.exchange, known.negRiskExchange].some((contract) => contracts.includes(contract)),
  );
}

export const orderTypeText =
  'Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,uint256 takerAmount,uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,bytes32 builder)';

/** Wrapped orders of deposit wallets (signature type 3): the order inside what the wallet's owner signs. */
export const wrappedOrderTypeText = `TypedDataSign(Order contents,string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)${orderTypeText}`;

/** Name and version of the deposit wallet inside a wrapped order. */
export const depositWallet = { name: 'DepositWallet', version: '1' } as const;

/**
 * Name and version of the L1 domain. Its chain and contract are those of the installation's orders in ordinary markets;
 * the family's L1 domains have no contract.
 */
export const l1Domain = { name: 'ClobAuthDomain', version: '1' } as const;
export const l1TypeText = 'ClobAuth(address address,string timestamp,uint256 nonce,string message)';

/** The message of the API family's L1 proofs, whatever they ask for; it counts in the family's domains only. */
export const l1Message = 'This message attests that I control the given wallet';

/**
 * Purposes of a wallet's own signature, and the message that states the purpose in the domain of an installation: a
 * proof for one purpose serves no other (conventions.md 2.1).
 */
export const l1Messages = {
  create: 'Create the API key of this nonce, or show its secret',
  list: 'List the API keys of this wallet',
  revoke: 'Revoke the API key of this nonce',
} as const;
export type L1Purpose = keyof typeof l1Messages;

/** 0 EOA, 1 proxy wallet, 2 Safe, 3 deposit wallet. */
export const signatureTypes = [0, 1, 2, 3] as const;
export type SignatureType = (typeof signatureTypes)[number];

/** Names of the signed headers, as clients write them; compared without case. */
export const headers = {
  address: 'SERVICE_ADDRESS',
  signature: 'SERVICE_SIGNATURE',
  timestamp: 'SERVICE_TIMESTAMP',
  nonce: 'SERVICE_NONCE',
  apiKey: 'SERVICE_API_KEY',
  passphrase: 'SERVICE_PASSPHRASE',
  readOnlyKey: 'SERVICE_READONLY_API_KEY',
  builderApiKey: 'SERVICE_BUILDER_API_KEY',
  builderPassphrase: 'SERVICE_BUILDER_PASSPHRASE',
  builderTimestamp: 'SERVICE_BUILDER_TIMESTAMP',
  builderSignature: 'SERVICE_BUILDER_SIGNATURE',
} as const;

/** How soon a placed order must be in its book, milliseconds; not signed (conventions.md 3.8). */
export const timeToBookHeader = 'SERVICE_TIME_TO_BOOK_MS';

/** Until when a placed order must be in its book, Unix milliseconds by the clock of the exchange; not signed (3.8). */
export const validUntilHeader = 'SERVICE_VALID_UNTIL_MS';

/** When the first attempt of a placement was sent, Unix milliseconds by the clock of the exchange; not signed (3.8). */
export const firstSentHeader = 'SERVICE_FIRST_SENT_MS';

/** Version of the order struct, the answer of GET /version. */
export const orderVersion = 2;
