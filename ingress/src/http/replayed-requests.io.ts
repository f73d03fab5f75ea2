import { freshnessOf } from '@pm/domain/accounts/auth-headers';
import { readKeyClaim } from '@pm/domain/accounts/key-claim';
import { unlessUnavailable } from '@pm/domain/requests/requests.io';
import { type HttpApp, refuse } from '@pm/kit/http';
import type { Metrics } from '@pm/kit/metrics';
import { usedProofLimits } from '@pm/schemas/redis/keys';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { repetitionMetrics } from '../metrics.ts';
import { type Authentication, signedFacts } from './authentication.io.ts';
import type { ProofResult, UsedProof, UsedProofs } from './used-proofs.io.ts';

/** Counters of repeated requests: refused ones, and ones that were carried out without being noted. */
export interface RepetitionCounts {
  repeated(): void;
  unnoted(): void;
}

/** Dependencies of the detection of repeated requests. */
export interface RepetitionServices {
  readonly authentication: Pick<Authentication, 'verify' | 'freshness'>;
  readonly usedProofs: Pick<UsedProofs, 'note'>;
  readonly counts: RepetitionCounts;
}

export function openRepetitionCounts(metrics: Metrics): RepetitionCounts {
  const { repeated, unnoted } = metrics.open(repetitionMetrics);
  return { repeated: () => repeated.add(1), unnoted: () => unnoted.add(1) };
}

/**
 * Finds requests that come again byte for byte on every route whose declaration says that a repetition is not
 * harmless, whichever ingress they reach (conventions.md 2.8). Call it before the routes are added.
 */
export function findRepetitions(app: HttpApp, services: RepetitionServices): void {
  app.addHook('onRoute', (route) => {
    const repetition = route.config?.declaration?.repetition;
    if (repetition === undefined || repetition === 'harmless') return;
    const before = [route.preHandler ?? []].flat();
    route.preHandler = [
      async (request, reply) => {
        const code = await noteRequest(request, { repetition }, services);
        return code === null ? undefined : refuseRepetition(reply, code);
      },
      ...before,
    ];
  });
}

async function refuseRepetition(reply: FastifyReply, code: RefusalCode): Promise<FastifyReply> {
  return refuse(reply, code);
}

/**
 * Uses up the proof of a request; returns why the request is not carried out, or null. A request without the proof
 * of an API key is left to its route, which refuses it or has another proof.
 */
export async function noteRequest(
  request: FastifyRequest,
  use: Pick<UsedProof, 'repetition' | 'isSpent'>,
  { authentication, usedProofs, counts }: RepetitionServices,
): Promise<RefusalCode | null> {
  const claim = readKeyClaim(request.headers);
  if (claim === null || authentication.verify(signedFacts(request)) === null) return null;
  const { digest } = claim;
  const windowMs = freshnessOf(claim, authentication.freshness);
  return await useProof({ ...use, digest, windowMs }, { usedProofs, counts });
}

/** Uses a right proof up; the refusal when it was used before, or when it has to be noted and cannot be. */
export async function useProof(
  proof: UsedProof,
  { usedProofs, counts }: Pick<RepetitionServices, 'usedProofs' | 'counts'>,
): Promise<RefusalCode | null> {
  const { repetition } = proof;
  const verdict = await unlessUnavailable(() => usedProofs.note(proof));
  if (isRepeated(verdict, repetition)) {
    counts.repeated();
    return 'request_repeated';
  }
  if (verdict !== null && verdict.kind !== 'full') return null;
  if (repetition === 'refused') return 'proofs_unavailable';
  counts.unnoted();
  return null;
}

function isRepeated(verdict: ProofResult | null, repetition: UsedProof['repetition']): boolean {
  if (verdict?.kind !== 'again') return false;
  return repetition === 'refused' || verdict.ageMs > usedProofLimits.graceMs;
}
