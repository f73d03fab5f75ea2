import type { ApiKeyTrio } from '@pm/schemas/http/trading';
import type { RefusalCode } from '@pm/schemas/refusals';
import { headers as names, type SigningDomain } from '@pm/schemas/signing';
import type { Connection } from './connection.ts';
import { l1Digest } from './eip712.ts';
import { ExchangeError, isPassing } from './errors.ts';
import { persist, type RetryBudget } from './retry.ts';
import { attestationTypedData, type TypedDataSigner } from './typed-data.ts';
import type { Signer } from './wallet.ts';

/** Which key a wallet asks for, and within which time. */
interface KeyRequest {
  readonly nonce: bigint;
  readonly domain: SigningDomain;
  readonly retryBudget: RetryBudget;
}

type Headers = Readonly<Record<string, string>>;

/**
 * Proves the wallet until it has the key of this nonce. A proof is good once, and an attempt without a key may have
 * used it up: the next attempt signs another one. Throws the last `ExchangeError` when the retry budget ends.
 */
export async function obtainKey(
  connection: Connection,
  signer: Signer | TypedDataSigner,
  { nonce, domain, retryBudget }: KeyRequest,
): Promise<ApiKeyTrio> {
  let unused: Headers | null = null;
  return await persist(retryBudget, mayProveAgain, async (tries) => {
    const timestamp = String(connection.nowMs());
    const headers = unused ?? (await proofHeaders(signer, { timestamp, nonce, domain }));
    const sent = { method: 'POST', path: '/auth/api-key', headers } as const;
    try {
      return await connection.sendOnce<ApiKeyTrio>(sent, { retryBudget, tries });
    } catch (error) {
      // Limits of requests are judged before the proof: the owner of a wallet is not asked for another one.
      unused = error instanceof ExchangeError && error.code === limitCode ? headers : null;
      throw error;
    }
  });
}

const limitCode: RefusalCode = 'rate_limited';

/** A used proof is one of the same millisecond by another client of the wallet, or a request that a proxy repeated. */
const usedCode: RefusalCode = 'request_repeated';

function mayProveAgain(error: ExchangeError): boolean {
  return error.code === usedCode || isPassing(error);
}

async function proofHeaders(
  signer: Signer | TypedDataSigner,
  signed: {
    readonly timestamp: string;
    readonly nonce: bigint;
    readonly domain: SigningDomain;
  },
): Promise<Headers> {
  const attestation = { ...signed, address: signer.address, purpose: 'create' } as const;
  const signature =
    'signTypedData' in signer
      ? await signer.signTypedData(attestationTypedData(attestation))
      : signer.sign(l1Digest(attestation));
  return {
    [names.address]: signer.checksummed,
    [names.signature]: signature,
    [names.timestamp]: signed.timestamp,
    [names.nonce]: signed.nonce.toString(),
  };
}
