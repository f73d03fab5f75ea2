import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { l1Digest, orderDigest, wrappedDigest, wrapSignature } from '../src/eip712.ts';
import { signedHeaders } from '../src/http.ts';
import { hexWord, keccak, keccakText, word } from '../src/keccak.ts';
import { walletFromPrivateKey } from '../src/wallet.ts';

const page = readFileSync(join(__dirname, '../../docs/trading/first-order.md'), 'utf8');

/** Every `name = value` line of the page. */
const stated = new Map(
  [...page.matchAll(/^([a-z][a-z0-9_]*) = (.+)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]),
);

/** Inputs of the page; all other values follow from them. */
const inputs =
  `private_key l1_timestamp l1_nonce l1_message api_key secret passphrase salt token_id maker_amount taker_amount side
  signature_type timestamp metadata builder domain_name domain_version chain_id exchange neg_risk_exchange order_type wrapped_type
  l2_timestamp wallet wallet_name wallet_version`.split(/\s+/);

const given = (name: string): string => {
  const value = stated.get(name);
  if (value === undefined) throw new Error(`the page does not state ${name}`);
  return value;
};

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;
const hash = (...parts: Uint8Array[]) => keccak(Buffer.concat(parts));
const textHash = (name: string) => keccakText(given(name));
const prefix = Buffer.from('1901', 'hex');
const signer = walletFromPrivateKey(given('private_key'));
const domainType =
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';

/** The steps of the page for the wallet. */
function proofOfWallet(): Record<string, string> {
  const chain = word(BigInt(given('chain_id')));
  const [name, version] = [keccakText('ClobAuthDomain'), keccakText('1')];
  const separator = hash(keccakText(domainType), name, version, chain, hexWord(given('exchange')));
  const type = keccakText(
    'ClobAuth(address address,string timestamp,uint256 nonce,string message)',
  );
  const nonce = word(BigInt(given('l1_nonce')));
  const [timestamp, message] = [textHash('l1_timestamp'), textHash('l1_message')];
  const struct = hash(type, hexWord(signer.address), timestamp, nonce, message);
  const digest = hash(prefix, separator, struct);
  return {
    address: signer.checksummed,
    l1_name_hash: hex(name),
    l1_version_hash: hex(version),
    l1_separator: hex(separator),
    l1_type_hash: hex(type),
    l1_timestamp_hash: hex(timestamp),
    l1_message_hash: hex(message),
    l1_struct_hash: hex(struct),
    l1_digest: hex(digest),
    l1_signature: signer.sign(digest),
  };
}

function separatorOf(contract: string): Uint8Array {
  const chain = word(BigInt(given('chain_id')));
  const [name, version] = [textHash('domain_name'), textHash('domain_version')];
  return hash(keccakText(domainType), name, version, chain, hexWord(given(contract)));
}

function structHashOf(wallet: string, signatureType: number): Uint8Array {
  const numbers = (...names: string[]) => names.map((name) => word(BigInt(given(name))));
  return hash(
    textHash('order_type'),
    ...numbers('salt'),
    hexWord(wallet),
    hexWord(wallet),
    ...numbers('token_id', 'maker_amount', 'taker_amount', 'side'),
    word(signatureType),
    ...numbers('timestamp'),
    hexWord(given('metadata')),
    hexWord(given('builder')),
  );
}

function order(): Record<string, string> {
  const separator = separatorOf('exchange');
  const struct = structHashOf(signer.address, 0);
  const digest = hash(prefix, separator, struct);
  return {
    maker: signer.address,
    signer: signer.address,
    domain_type_hash: hex(keccakText(domainType)),
    domain_name_hash: hex(textHash('domain_name')),
    domain_version_hash: hex(textHash('domain_version')),
    separator: hex(separator),
    neg_risk_separator: hex(separatorOf('neg_risk_exchange')),
    order_type_hash: hex(textHash('order_type')),
    struct_hash: hex(struct),
    order_id: hex(digest),
    signature: signer.sign(digest),
  };
}

function requestSignatures(): Record<string, string> {
  const body = JSON.stringify({
    order: {
      salt: given('salt'),
      maker: given('maker'),
      signer: given('signer'),
      tokenId: given('token_id'),
      makerAmount: given('maker_amount'),
      takerAmount: given('taker_amount'),
      side: 'BUY',
      signatureType: 0,
      timestamp: given('timestamp'),
      metadata: given('metadata'),
      builder: given('builder'),
      expiration: '0',
      signature: given('signature'),
    },
    owner: given('api_key'),
    orderType: 'GTC',
  });
  const message = `${given('l2_timestamp')}POST/order${body}`;
  const hmac = (text: string) =>
    createHmac('sha256', Buffer.from(given('secret'), 'base64url'))
      .update(text)
      .digest('base64');
  const urlSafe = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_');
  const read = `${given('l2_timestamp')}GET/data/orders`;
  return {
    body,
    l2_message_start: message.slice(0, given('l2_message_start').length),
    l2_signature: urlSafe(hmac(message)),
    l2_get_message: read,
    l2_get_signature: urlSafe(hmac(read)),
  };
}

function walletOrder(): Record<string, string> {
  const separator = separatorOf('exchange');
  const wallet = given('wallet');
  const struct = structHashOf(wallet, 3);
  const [name, version] = [textHash('wallet_name'), textHash('wallet_version')];
  const chain = word(BigInt(given('chain_id')));
  const type = textHash('wrapped_type');
  const wrapped = hash(type, struct, name, version, chain, hexWord(wallet), word(0));
  const digest = hash(prefix, separator, wrapped);
  const inner = signer.sign(digest);
  const typeText = Buffer.from(given('order_type'));
  const length = Buffer.from([0, typeText.length]);
  return {
    wallet_struct_hash: hex(struct),
    wallet_order_id: hex(hash(prefix, separator, struct)),
    wrapped_type_hash: hex(type),
    wallet_name_hash: hex(name),
    wallet_version_hash: hex(version),
    wrapped_struct_hash: hex(wrapped),
    wrapped_digest: hex(digest),
    inner_signature: inner,
    wallet_signature: inner + Buffer.concat([separator, struct, typeText, length]).toString('hex'),
  };
}

test('every value of the page follows from its inputs, and the page has no others', () => {
  const derived = { ...proofOfWallet(), ...order(), ...requestSignatures(), ...walletOrder() };
  const rest = [...stated].filter(([name]) => !inputs.includes(name));
  expect(Object.fromEntries(rest)).toEqual(derived);
  expect(inputs.every((name) => stated.has(name))).toBe(true);
});

test('the client and the contracts agree with the page', () => {
  const domain = {
    name: given('domain_name'),
    version: given('domain_version'),
    chainId: Number(given('chain_id')),
    exchange: given('exchange'),
    negRiskExchange: given('neg_risk_exchange'),
  };
  const attestation = {
    address: signer.address,
    timestamp: given('l1_timestamp'),
    nonce: BigInt(given('l1_nonce')),
    purpose: 'create',
    domain,
  } as const;
  expect(hex(l1Digest(attestation))).toBe(given('l1_digest'));
  const struct = {
    salt: BigInt(given('salt')),
    maker: given('wallet'),
    signer: given('wallet'),
    tokenId: BigInt(given('token_id')),
    makerAmount: BigInt(given('maker_amount')),
    takerAmount: BigInt(given('taker_amount')),
    side: 'BUY',
    signatureType: 3,
    timestampMs: BigInt(given('timestamp')),
    metadata: given('metadata'),
    builder: given('builder'),
  } as const;
  const separator = separatorOf('exchange');
  const wrapped = wrappedDigest(struct, separator, Number(given('chain_id')));
  expect(hex(orderDigest(struct, separator))).toBe(given('wallet_order_id'));
  expect(wrapSignature(signer.sign(wrapped), struct, separator)).toBe(given('wallet_signature'));
  const key = {
    apiKey: given('api_key'),
    secret: given('secret'),
    passphrase: given('passphrase'),
    address: signer.checksummed,
  };
  const request = { method: 'POST', path: '/order', body: given('body') };
  const headers = signedHeaders(key, request, Number(given('l2_timestamp')));
  expect(headers['SERVICE_SIGNATURE']).toBe(given('l2_signature'));
  // The lines above have the data that curl sends.
  for (const value of Object.values(headers)) expect(page).toContain(`: ${value}'`);
});
