import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ExchangeClient, type KeyOfWallet, type Signer, signedHeaders } from '@pm/client';
import { testAccounts } from '@pm/deploy/demo/wallets';
import { operatorsFileIn } from '@pm/deploy/setup/operators';
import { addOperator } from '@pm/operate/operators/operators-file';
import { type OperatorRole, operatorRoles } from '@pm/schemas/operators';
import type { OperatorCaller, Principal } from '@pm/schemas/routes/access';
import { headers as names, type SigningDomain } from '@pm/schemas/signing';
import { untilNone, type WholeExchange } from '../whole-exchange.ts';

/** Longest time until a new operator is known, milliseconds. */
const operatorKnownMs = 30_000;

export type Caller = Principal | OperatorCaller;

export type Headers = Readonly<Record<string, string>>;

export interface Asked {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly body: string;
}

/** A wallet that takes part in the test, with an API key that is made again by the same signature. */
export interface Party {
  readonly signer: Signer;
  /** Domain of the signatures of its orders and proofs. */
  readonly domain: SigningDomain;
  key: KeyOfWallet;
}

/** Every kind of caller of an exchange, with the credentials that it sends. */
export class Callers {
  readonly owner: Party;
  readonly #other: Party;
  readonly #closedOnly: Party;
  readonly #banned: Party;
  readonly #revoked: Party;
  readonly #readOnlyKey: string;
  readonly #agents: { readonly active: string; readonly paused: string };
  readonly #tokens: ReadonlyMap<string, string>;

  private constructor(parts: {
    readonly parties: readonly [Party, Party, Party, Party, Party];
    readonly readOnlyKey: string;
    readonly agents: { readonly active: string; readonly paused: string };
    readonly tokens: ReadonlyMap<string, string>;
  }) {
    const { parties, readOnlyKey, agents, tokens } = parts;
    [this.owner, this.#other, this.#closedOnly, this.#banned, this.#revoked] = parties;
    this.#readOnlyKey = readOnlyKey;
    this.#agents = agents;
    this.#tokens = tokens;
  }

  static async open(exchange: WholeExchange): Promise<Callers> {
    const signers = testAccounts().slice(0, 5);
    const clients = signers.map((signer) => exchange.client(signer));
    const parties: Party[] = [];
    for (const [index, client] of clients.entries()) {
      const signer = signers[index] as Signer;
      const key = { ...(await client.connect()), address: signer.checksummed };
      parties.push({ signer, key, domain: await client.signingDomain() });
    }
    const [owner, , closedOnly, banned, revoked] = clients as [
      ExchangeClient,
      ExchangeClient,
      ExchangeClient,
      ExchangeClient,
      ExchangeClient,
    ];
    const readOnlyKey = await owner.keys.createReadOnlyKey();
    const active = await owner.agents.create('active');
    const paused = await owner.agents.create('paused');
    await owner.agents.pause(paused.id);
    await revoked.keys.revoke();
    for (const [client, status] of [
      [closedOnly, 'closed_only'],
      [banned, 'banned'],
    ] as const) {
      const address = signers[clients.indexOf(client)]?.address;
      const path = `wallets/${address}/status`;
      await exchange.operate('POST', path, { status, reason: 'a test' });
    }
    return new Callers({
      parties: parties as [Party, Party, Party, Party, Party],
      readOnlyKey,
      agents: { active: active.key, paused: paused.key },
      tokens: await openOperators(exchange),
    });
  }

  /** Makes the key of the owner work again, which one of its requests may have deleted. */
  async renewOwner(exchange: WholeExchange): Promise<void> {
    const { owner } = this;
    const trio = await exchange.client(owner.signer).connect();
    owner.key = { ...trio, address: owner.signer.checksummed };
  }

  /** The wallet whose orders and keys a request of the principal names. */
  partyOf(principal: Caller): Party {
    if (principal === 'closedOnly') return this.#closedOnly;
    if (principal === 'banned') return this.#banned;
    return principal === 'revoked' ? this.#revoked : this.owner;
  }

  /** Credentials of a request; `bySignature` where only the wallet itself can prove who calls. */
  async headersOf(principal: Caller, asked: Asked, bySignature: boolean): Promise<Headers> {
    const { owner } = this;
    const other = { [names.address]: this.#other.signer.checksummed };
    switch (principal) {
      case 'none':
        return {};
      case 'otherKey':
        return { ...signed(owner.key, asked), [names.apiKey]: this.#other.key.apiKey };
      case 'otherWallet':
        return { ...(bySignature ? await attested(owner) : signed(owner.key, asked)), ...other };
      case 'revoked':
        return signed(this.#revoked.key, asked);
      case 'agent':
        return { authorization: `Bearer ${this.#agents.active}` };
      case 'pausedAgent':
        return { authorization: `Bearer ${this.#agents.paused}` };
      case 'readOnly':
        return {
          [names.address]: owner.signer.checksummed,
          [names.readOnlyKey]: this.#readOnlyKey,
        };
      case 'owner':
      case 'closedOnly':
      case 'banned': {
        const party = this.partyOf(principal);
        return bySignature ? await attested(party) : signed(party.key, asked);
      }
      default:
        return { authorization: `Bearer ${this.#tokens.get(principal) ?? ''}` };
    }
  }
}

/** Tokens by role, and that of the first operator, once all of them open something. */
async function openOperators(exchange: WholeExchange): Promise<ReadonlyMap<string, string>> {
  const file = operatorsFileIn(exchange.folder);
  const add = (role: OperatorRole) => addOperator(file, { name: role, roles: [role] });
  const tokens = new Map<string, string>(operatorRoles.map((role) => [role, add(role)]));
  const newest = tokens.get(operatorRoles.at(-1) ?? '') ?? '';
  const url = `http://127.0.0.1:${exchange.ports.operator}/operator/status`;
  const isKnown = async () => {
    const headers = { authorization: `Bearer ${newest}` };
    return (await fetch(url, { headers })).ok ? [] : ['the newest operator'];
  };
  await untilNone('operators are known', isKnown, operatorKnownMs);
  return tokens.set('operator', exchange.keys.operatorToken);
}

function signed(key: KeyOfWallet, { method, url, body }: Asked): Headers {
  const path = url.split('?')[0] ?? '';
  return signedHeaders(key, { method: method as 'POST', path, body }, Date.now());
}

/** The headers with which the client proves a wallet, taken from its request for a key. */
async function attested({ signer, domain }: Party): Promise<Headers> {
  let sent: Headers = {};
  const server = createServer((request, response) => {
    const proof = Object.values(names).map((name) => [name, request.headers[name.toLowerCase()]]);
    sent = Object.fromEntries(proof.filter(([, value]) => value !== undefined)) as Headers;
    response.statusCode = 400;
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new ExchangeClient({ baseUrl, signer, domain }).connect().catch(() => null);
  server.close();
  return sent;
}
