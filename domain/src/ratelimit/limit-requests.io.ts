import type { IncomingMessage } from 'node:http';
import { assert } from '@pm/kit/assert';
import {
  type HttpApp,
  type LimitsAtHand,
  type RequestLimits,
  refuse,
  tableMethod,
} from '@pm/kit/http';
import type { Metrics } from '@pm/kit/metrics';
import {
  failedAddressRules,
  failedProofRules,
  type HttpRoute,
  type RateRule,
  rateGroupOf,
  rateRulesOf,
  routes,
  urlsOf,
} from '@pm/schemas';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { type Caller, claimOf } from './callers.ts';
import { type Charge, takeAll, takeEach } from './charges.io.ts';
import { CountedAddresses } from './counted-addresses.io.ts';
import type { RateLimiter } from './limiter.io.ts';
import type { RuleVerdict } from './verdict.ts';

/**
 * One kind of credentials: whether a request has them, and the caller they prove. `prove` is called when the body is
 * complete.
 */
export interface Credentials {
  claims(headers: FastifyRequest['headers']): boolean;
  /** The key that such a request claims, in its one spelling; empty when it names none. */
  claimed(headers: FastifyRequest['headers']): string;
  /** Null when they prove no caller. */
  prove(request: FastifyRequest): ProvenCaller | null;
}

/** A caller with a proof; the keys of one wallet share limits. */
export interface ProvenCaller extends Caller {
  readonly wallet?: string;
}

/** The limiter of a listener and the credentials it accepts. */
export interface DoorLimits {
  readonly limiter: RateLimiter;
  /** Tried in order; a request without any is counted for its address. */
  readonly credentials: readonly Credentials[];
}

/** Precomputed facts for the hooks of a route. */
interface Plan {
  readonly rules: readonly RateRule[];
  /** The rules that count a proven caller, and those that count its address all the same. */
  readonly callerRules: readonly RateRule[];
  readonly addressRules: readonly RateRule[];
  /** Not refused for proofs that failed: cancels and heartbeats. */
  readonly isReserve: boolean;
  /** GET has no body, so that proofs can be checked before anything is read. */
  readonly isBodyless: boolean;
  allowed(): void;
  limited(scope: string): void;
}

type Done = (error?: Error) => void;

/**
 * Limits every public route by the table of rate limits as the route is added, so none can be forgotten. A request
 * that proves a key counts for the key, its wallet and its address; a failed proof and an unreadable body count for the
 * address, and for the claimed key at that address. Every response has the units left (`RateLimit-*`).
 */
export function limitRequests(limits: DoorLimits): RequestLimits {
  return { attach: (app, metrics) => attachLimits(app, limits, metrics) };
}

function attachLimits(app: HttpApp, limits: DoorLimits, metrics?: Metrics): LimitsAtHand {
  const plans = plansOf(metrics);
  const addresses = new CountedAddresses();
  app.addHook('onRoute', (route: RouteOptions) => {
    const plan = plans.get(`${tableMethod(route)} ${route.url}`);
    if (plan === undefined) return;
    const hooks = new RouteHooks(limits, plan, addresses);
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
      const hooks = new RouteHooks(limits, plan, addresses);
      return (request) => hooks.passAtOnce(request);
    },
  };
}

/** Every public route by the URLs it is served under. */
function plansOf(metrics: Metrics | undefined): ReadonlyMap<string, Plan> {
  const counters = metrics === undefined ? null : openCounters(metrics);
  const plans = new Map<string, Plan>();
  for (const route of routes as readonly HttpRoute[]) {
    const rules = rateRulesOf(route);
    const scopes = [...new Set(rules.map((rule) => rule.scope.name))];
    const counts = scopes.map((scope) => counters?.allowed.bind({ scope }) ?? (() => {}));
    const plan: Plan = {
      rules,
      callerRules: rules.filter(({ scope }) => scope.countedFor !== 'address'),
      addressRules: rules.filter(({ scope }) => scope.countedFor === 'address'),
      isReserve: rateGroupOf(route) === 'reserve',
      isBodyless: route.method === 'GET',
      allowed: () => {
        for (const count of counts) count();
      },
      limited: (scope) => counters?.limited.add(1, { scope }),
    };
    for (const { url } of urlsOf(route)) plans.set(`${route.method} ${url}`, plan);
  }
  return plans;
}

function openCounters(metrics: Metrics) {
  const labels = ['scope'] as const;
  return {
    allowed: metrics.counter({
      name: 'pm_rate_allowed_total',
      help: 'Requests that a scope of the rate limits let pass.',
      labels,
    }),
    limited: metrics.counter({
      name: 'pm_rate_limited_total',
      help: 'Requests refused, by the scope of the rate limits that refused them.',
      labels,
    }),
  };
}

/** The hooks of one route. */
class RouteHooks {
  readonly #limits: DoorLimits;
  readonly #plan: Plan;
  readonly #addresses: CountedAddresses;

  constructor(limits: DoorLimits, plan: Plan, addresses: CountedAddresses) {
    this.#limits = limits;
    this.#plan = plan;
    this.#addresses = addresses;
  }

  /** The headers are complete. A request without credentials is decided here. */
  arrived(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const credentials = this.#credentialsOf(request);
    if (credentials === null) {
      const caller = this.#addresses.of(request);
      this.#count(takeAll, [{ caller, rules: this.#plan.rules }], reply, done);
      return;
    }
    const lockedOut = this.#lockedOut(request, credentials);
    if (lockedOut !== null) this.#refuse(reply, lockedOut);
    else if (this.#plan.isBodyless) this.#prove(request, reply, done);
    else done();
  }

  passAtOnce(request: IncomingMessage): RuleVerdict | null {
    if (this.#credentialsOf(request) !== null) return null;
    const caller = this.#addresses.known(request);
    if (caller === undefined) return null;
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
  #lockedOut(request: FastifyRequest, { claimed }: Credentials): RuleVerdict | null {
    const { callerRules, isReserve } = this.#plan;
    const spent = this.#limits.limiter.isSpent(this.#networkOf(request), callerRules);
    if (spent !== null || isReserve) return spent;
    const claim = claimOf(this.#addresses.of(request), claimed(request.headers));
    return this.#limits.limiter.isSpent(claim, failedProofRules);
  }

  #prove(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const proven = this.#credentialsOf(request)?.prove(request) ?? null;
    if (proven === null) {
      this.#fail(request, reply, done);
      return;
    }
    const { callerRules, addressRules } = this.#plan;
    const charges: Charge[] = [
      { caller: proven, rules: callerRules },
      { caller: this.#networkOf(request), rules: callerRules },
    ];
    if (proven.wallet !== undefined) {
      charges.push({ caller: { kind: 'wallet', id: proven.wallet }, rules: callerRules });
    }
    if (addressRules.length > 0) {
      charges.push({ caller: this.#addresses.of(request), rules: addressRules });
    }
    this.#count(takeAll, charges, reply, done);
  }

  #networkOf(request: FastifyRequest): Caller {
    return { kind: 'network', id: this.#addresses.of(request).id };
  }

  /** Counts a failed proof. An address that has too many of them gets no further answers about keys. */
  #fail(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const address = this.#addresses.of(request);
    const spent = this.#limits.limiter.isSpent(address, failedAddressRules);
    if (spent !== null) this.#refuse(reply, spent);
    else this.#count(takeEach, this.#failureOf(request), reply, done);
  }

  /** The claim counts also when the address has nothing left of the route. */
  #failureOf(request: FastifyRequest): readonly Charge[] {
    const address = this.#addresses.of(request);
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
    const conclude = (given: RuleVerdict): void => this.#conclude(given, reply, done);
    if ('isAllowed' in verdict) conclude(verdict);
    else verdict.then(conclude, done);
  }

  #conclude(verdict: RuleVerdict, reply: FastifyReply, done: Done): void {
    if (!verdict.isAllowed) {
      this.#refuse(reply, verdict);
      return;
    }
    this.#plan.allowed();
    reply.request.verdict = verdict;
    done();
  }

  #refuse(reply: FastifyReply, verdict: RuleVerdict): void {
    this.#plan.limited(verdict.rule.scope.name);
    reply.request.verdict = verdict;
    void refuse(reply, 'rate_limited', {}, { retryAfterSeconds: verdict.resetSeconds });
  }
}
