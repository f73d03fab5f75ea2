import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/**
 * Identities. An id is not a string: it is made by its parser, which normalises it (lower case, canonical decimal), and
 * by nothing else. On the log ids are fixed bytes; `...Bytes` and `...FromBytes` go between the two.
 */
declare const brand: unique symbol;
type Branded<Name> = string & { readonly [brand]: Name };

/** EIP-712 hash of an order: 0x and 64 lower-case hex digits. */
export type OrderId = Branded<'OrderId'>;
/** The pair of tokens of one question: 0x and 64 lower-case hex digits. */
export type ConditionId = Branded<'ConditionId'>;
/** One outcome: a canonical decimal uint256. */
export type TokenId = Branded<'TokenId'>;
/** 0x and 40 lower-case hex digits; shown checksummed by `checksumAddress`. */
export type WalletAddress = Branded<'WalletAddress'>;
/** A lower-case UUID. */
export type ApiKeyId = Branded<'ApiKeyId'>;
/** A lower-case UUID. */
export type AgentId = Branded<'AgentId'>;
/** A lower-case UUID: the newest link of a session's chain of heartbeats. */
export type HeartbeatId = Branded<'HeartbeatId'>;

const hash32 = /^0x[0-9a-fA-F]{64}$/;
const address20 = /^0x[0-9a-fA-F]{40}$/;
const uuid = /^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$/;
const decimal = /^(0|[1-9]\d{0,77})$/;
const indexedAsset = /^(0x[0-9a-fA-F]{64}):([01])$/;
const uint256Max = (1n << 256n) - 1n;
/** Every decimal of fewer digits is below 2^256. */
const uint256Digits = 78;

export function parseOrderId(text: string): OrderId | null {
  return hash32.test(text) ? (text.toLowerCase() as OrderId) : null;
}

export function parseConditionId(text: string): ConditionId | null {
  return hash32.test(text) ? (text.toLowerCase() as ConditionId) : null;
}

export function parseTokenId(text: string): TokenId | null {
  if (!decimal.test(text)) return null;
  const fits = text.length < uint256Digits || BigInt(text) <= uint256Max;
  return fits ? (text as TokenId) : null;
}

/** One outcome as filters name it: by its token, or by its place in its condition. */
export type AskedAsset =
  | { readonly token: TokenId }
  | { readonly condition: ConditionId; readonly outcome: 0 | 1 };

/** A token id, or `<condition>:<index>` as reports write it; null for any other text (conventions.md 1.2). */
export function parseAsset(text: string): AskedAsset | null {
  const [, named = '', index] = indexedAsset.exec(text) ?? [];
  const condition = parseConditionId(named);
  if (condition !== null) return { condition, outcome: index === '1' ? 1 : 0 };
  const token = parseTokenId(text);
  return token === null ? null : { token };
}

export function parseWalletAddress(text: string): WalletAddress | null {
  return address20.test(text) ? (text.toLowerCase() as WalletAddress) : null;
}

export function parseApiKeyId(text: string): ApiKeyId | null {
  return uuid.test(text) ? (text.toLowerCase() as ApiKeyId) : null;
}

export function parseAgentId(text: string): AgentId | null {
  return uuid.test(text) ? (text.toLowerCase() as AgentId) : null;
}

export function parseHeartbeatId(text: string): HeartbeatId | null {
  return uuid.test(text) ? (text.toLowerCase() as HeartbeatId) : null;
}

/** The bytes of 0x-text; the caller has a parsed id. */
export function hexBytes(id: OrderId | ConditionId | WalletAddress): Buffer {
  return Buffer.from(id.slice(2), 'hex');
}

export function orderIdFromBytes(bytes: Buffer): OrderId {
  return `0x${bytes.toString('hex')}` as OrderId;
}

export function conditionIdFromBytes(bytes: Buffer): ConditionId {
  return `0x${bytes.toString('hex')}` as ConditionId;
}

export function walletFromBytes(bytes: Buffer): WalletAddress {
  return `0x${bytes.toString('hex')}` as WalletAddress;
}

export function tokenIdBytes(id: TokenId): Buffer {
  return Buffer.from(BigInt(id).toString(16).padStart(64, '0'), 'hex');
}

export function tokenIdFromBytes(bytes: Buffer): TokenId {
  return BigInt(`0x${bytes.toString('hex')}`).toString() as TokenId;
}

export function apiKeyBytes(id: ApiKeyId): Buffer {
  return uuidBytes(id);
}

export function apiKeyFromBytes(bytes: Buffer): ApiKeyId {
  return uuidText(bytes) as ApiKeyId;
}

export function agentIdBytes(id: AgentId): Buffer {
  return uuidBytes(id);
}

export function agentIdFromBytes(bytes: Buffer): AgentId {
  return uuidText(bytes) as AgentId;
}

export function heartbeatIdBytes(id: HeartbeatId): Buffer {
  return uuidBytes(id);
}

export function heartbeatIdFromBytes(bytes: Buffer): HeartbeatId {
  return uuidText(bytes) as HeartbeatId;
}

function uuidBytes(text: string): Buffer {
  return Buffer.from(text.replaceAll('-', ''), 'hex');
}

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return `${groups.join('-')}-${hex.slice(20)}`;
}

/** EIP-55: the case of each digit carries a checksum. */
export function checksumAddress(wallet: WalletAddress): string {
  const known = checksummed.get(wallet);
  if (known !== undefined) return known;
  const digits = wallet.slice(2);
  const hash = bytesToHex(keccak_256(new TextEncoder().encode(digits)));
  let text = '0x';
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digits.charAt(index);
    text += Number.parseInt(hash.charAt(index), 16) >= 8 ? digit.toUpperCase() : digit;
  }
  if (checksummed.size >= checksummedMax) checksummed.clear();
  checksummed.set(wallet, text);
  return text;
}

/** Wallets whose checksummed form is kept; a hash costs about 10 microseconds. */
const checksummedMax = 20_000;
const checksummed = new Map<WalletAddress, string>();
