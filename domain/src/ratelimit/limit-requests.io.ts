import type { IncomingMessage } from 'node:http';
import { assert } from '@pm/kit/assert';
import {
  type ClientAddress,
  type HttpApp,
  type LimitsAtHand,
  type RequestLimits,
  refuse,
  tableMethod,
} from '@pm/kit/http';
import type { Metrics } from '@pm/kit/metrics';
import type { WalletAddress } from '@pm/schemas/ids';
import { failedAddressRules, failedProofRules } from '@pm/schemas/rate-limits';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { type Caller, claimOf } from './callers.ts';
import { type Charge, takeAll, takeEach } from './charges.io.ts';
import type { RateLimiter } from './limiter.io.ts';
import { limitReadings, type Plan, plansOf } from './route-plans.io.ts';
import type { RuleResult } from './verdict.ts';

/**
 * One kind of credentials: whether a request has them, and the caller they prove. `prove` is called when the body is
 * complete.
 */
export interface Credentials {
  claims(headers: FastifyRequest['headers']): boolean;
  /** The key that such a request claims, in its one spelling; empty when it names none. */
  claimed(headers: FastifyRequest['headers']): string;
  /** The wallet of the key that such a request claims; null for one that is not known. */
  claimedPayer(headers: FastifyRequest['headers']): WalletAddress | null;
  /** Null when they prove no caller. */
  prove(request: FastifyRequest): ProvenCaller | null;
}

/** A caller with a proof; the keys of one wallet share limits. */
export interface ProvenCaller extends Caller {
  readonly wallet?: string;
  /** The wallet whose money its requests use. */
  readonly payer: WalletAddress;
}

/** Reads whether wallets have money. */
export interface PayerFunds {
  /** Whether the wallet has money or trades. Never rejects. */
  isFunded(payer: WalletAddress): boolean | Promise<boolean>;
  /** Whether it is known to have no money, without a question to the ledger. */
  isKnownUnfunded(payer: WalletAddress): boolean;
}

/** The limiter of a listener and the credentials it accepts. */
export interface RateLimits {
  readonly limiter: RateLimiter;
  /** Tried in order; a request without any is counted for its address. */
  readonly credentials: readonly Credentials[];
  /** Where wallets without money get a part of the limits of an address. */
  readonly funds?: PayerFunds;
}

type Done = (error?: Error) => void;

/**
 * Limits every public route by the table of rate limits as the route is added, so none can be forgotten. A request
 * that proves a key counts for the key, its wallet and its address, and for all wallets without money at that address
 * if its own is one; a failed proof and an unreadable body count for the address, and for the claimed key at that
 * address. Every response has the units left (`RateLimit-*`).
 */
export function limitRequests(limits: RateLimits): RequestLimits {
  return { attach: (app, metrics) => attachLimits(app, limits, metrics) };
}

function attachLimits(app: HttpApp, limits: RateLimits, metrics?: Metrics): LimitsAtHand {
  const plans = plansOf(metrics);
  if (metrics !== undefined) measureLimiter(metrics, limits);
  app.addHook('onRoute', (route: RouteOptions) => {
    const plan = plans.get(`${tableMethod(route)} ${route.url}`);
    if (plan === undefined) return;
    const hooks = new RouteHooks(limits, plan, app.countedAddress);
    const before = [route.onRequest ?? []].flat();
    route.onRequest = [...before, (request, reply, done) => hooks.arrived(request, reply, done)];
    if (plan.isBodyless) return;
    const checks = [route.preValidation ?? []].flat();
    route.preValidation = [(request, reply, done) => hooks.read(request, reply, done), ...checks];
    const faults = [route.onError ?? []].flat();
    route.onError = [
      ...faults,
      (request, _reply, error, done) => {
        hooks.broke(request, error);
        done();
      },
    ];
  });
  return {
    of(method, url) {
      const plan = plans.get(`${method} ${url}`);
      assert(plan !== undefined, 'the table of routes has every route whose answers are at hand');
      const hooks = new RouteHooks(limits, plan, app.countedAddress);
      return (request) => hooks.passAtOnce(request);
    },
  };
}

function measureLimiter(metrics: Metrics, { limiter }: RateLimits): void {
  const { alone, uncounted } = limitReadings;
  metrics.gauge({ ...alone, read: () => (limiter.isShared ? 0 : 1) });
  metrics.gauge({ ...uncounted, read: () => limiter.uncounted });
}

/** The hooks of one route. */
class RouteHooks {
  readonly #limits: RateLimits;
  readonly #plan: Plan;
  readonly #addressOf: ClientAddress;

  constructor(limits: RateLimits, plan: Plan, addressOf: ClientAddress) {
    this.#limits = limits;
    this.#plan = plan;
    this.#addressOf = addressOf;
  }

  /** The headers are complete. A request without credentials is decided here. */
  arrived(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const credentials = this.#credentialsOf(request);
    if (credentials === null) {
      const caller = this.#addressCaller(request.raw);
      this.#count(takeAll, [{ caller, rules: this.#plan.rules }], reply, done);
      return;
    }
    const lockedOut = this.#lockedOut(request, credentials);
    if (lockedOut !== null) this.#refuse(reply, lockedOut);
    else if (this.#plan.isBodyless) this.#prove(request, reply, done);
    else done();
  }

  passAtOnce(request: IncomingMessage): RuleResult | null {
    if (this.#credentialsOf(request) !== null) return null;
    const caller = this.#addressCaller(request);
    const verdict = this.#limits.limiter.takeAtOnce(caller, this.#plan.rules);
    if (verdict !== null) this.#plan.allowed();
    return verdict;
  }

  /** The body is complete, so the credentials can be checked. */
  read(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    if (this.#credentialsOf(request) === null) done();
    else this.#prove(request, reply, done);
  }

  /** The credentials of a request with an unreadable body cannot be checked: it counts like a failed proof. */
  broke(request: FastifyRequest, error: Error): void {
    const isBody = String(Reflect.get(error, 'code') ?? '').startsWith('FST_ERR_CTP');
    if (!(isBody || error.name === 'BodyProblem') || this.#credentialsOf(request) === null) return;
    void takeEach(this.#limits.limiter, this.#failureOf(request), 1);
  }

  #credentialsOf({ headers }: Pick<FastifyRequest, 'headers'>): Credentials | null {
    for (const one of this.#limits.credentials) if (one.claims(headers)) return one;
    return null;
  }

  /**
   * The refusal before the body is read: of an address whose keys have used up its part of the route, whatever they
   * prove, and of a claim that failed too often.
   */
  #lockedOut(request: FastifyRequest, credentials: Credentials): RuleResult | null {
    const { callerRules, isReserve } = this.#plan;
    const { limiter } = this.#limits;
    const spent =
      limiter.isSpent(this.#networkOf(request), callerRules) ??
      this.#spentByUnfunded(request, credentials);
    if (spent !== null || isReserve) return spent;
    const claim = claimOf(this.#addressCaller(request.raw), credentials.claimed(request.headers));
    return limiter.isSpent(claim, failedProofRules);
  }

  /**
   * The refusal, before the body is read, of a key of a wallet without money: the wallets without money at its address
   * have used up their part of the route. Null when there is none. A false claim of such a key would be refused, too.
   */
  #spentByUnfunded(request: FastifyRequest, { claimedPayer }: Credentials): RuleResult | null {
    const { funds, limiter } = this.#limits;
    if (funds === undefined || this.#plan.unfundedRules.length === 0) return null;
    const spent = limiter.isSpent(this.#unfundedOf(request), this.#plan.unfundedRules);
    if (spent === null) return null;
    const payer = claimedPayer(request.headers);
    return payer !== null && funds.isKnownUnfunded(payer) ? spent : null;
  }

  #prove(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const proven = this.#credentialsOf(request)?.prove(request) ?? null;
    if (proven === null) {
      this.#fail(request, reply, done);
      return;
    }
    const { funds } = this.#limits;
    const charge = (isFunded: boolean): void => {
      this.#count(takeAll, this.#chargesOf(request, proven, isFunded), reply, done);
    };
    const isFunded =
      funds === undefined || this.#plan.unfundedRules.length === 0 || funds.isFunded(proven.payer);
    if (typeof isFunded === 'boolean') charge(isFunded);
    else isFunded.then(charge, done);
  }

  #chargesOf(request: FastifyRequest, proven: ProvenCaller, isFunded: boolean): readonly Charge[] {
    const { callerRules, addressRules, unfundedRules } = this.#plan;
    const charges: Charge[] = [
      { caller: proven, rules: callerRules },
      { caller: this.#networkOf(request), rules: callerRules },
    ];
    if (proven.wallet !== undefined) {
      charges.push({ caller: { kind: 'wallet', id: proven.wallet }, rules: callerRules });
    }
    if (addressRules.length > 0) {
      charges.push({ caller: this.#addressCaller(request.raw), rules: addressRules });
    }
    if (!isFunded) charges.push({ caller: this.#unfundedOf(request), rules: unfundedRules });
    return charges;
  }

  #addressCaller(request: IncomingMessage): Caller {
    return { kind: 'address', id: this.#addressOf(request) };
  }

  #networkOf(request: FastifyRequest): Caller {
    return { kind: 'network', id: this.#addressOf(request.raw) };
  }

  #unfundedOf(request: FastifyRequest): Caller {
    return { kind: 'unfunded', id: this.#addressOf(request.raw) };
  }

  /** Counts a failed proof. An address that has too many of them gets no further answers about keys. */
  #fail(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const address = this.#addressCaller(request.raw);
    const spent = this.#limits.limiter.isSpent(address, failedAddressRules);
    if (spent !== null) this.#refuse(reply, spent);
    else this.#count(takeEach, this.#failureOf(request), reply, done);
  }

  /** The claim counts also when the address has nothing left of the route. */
  #failureOf(request: FastifyRequest): readonly Charge[] {
    const address = this.#addressCaller(request.raw);
    const claimed = this.#credentialsOf(request)?.claimed(request.headers) ?? '';
    return [
      { caller: address, rules: this.#plan.rules },
      { caller: address, rules: failedAddressRules },
      { caller: claimOf(address, claimed), rules: failedProofRules },
    ];
  }

  #count(take: typeof takeAll, charges: readonly Charge[], reply: FastifyReply, done: Done): void {
    const { body } = reply.request;
    const items = Array.isArray(body) ? body.length : 1;
    const verdict = take(this.#limits.limiter, charges, items);
    const conclude = (given: RuleResult): void => this.#conclude(given, reply, done);
    if ('isAllowed' in verdict) conclude(verdict);
    else verdict.then(conclude, done);
  }

  #conclude(verdict: RuleResult, reply: FastifyReply, done: Done): void {
    if (!verdict.isAllowed) {
      this.#refuse(reply, verdict);
      return;
    }
    this.#plan.allowed();
    reply.request.verdict = verdict;
    done();
  }

  #refuse(reply: FastifyReply, verdict: RuleResult): void {
    this.#plan.limited(verdict.rule.scope.name);
    reply.request.verdict = verdict;
    void refuse(reply, 'rate_limited', {}, { retryAfterSeconds: verdict.resetSeconds });
  }
}
