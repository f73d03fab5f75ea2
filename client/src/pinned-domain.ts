import { isFamilyDomain, type SigningDomain } from '@pm/schemas/signing';
import { SigningDomainError } from './errors.ts';
import type { RetryBudget } from './retry.ts';

/** Reads the domain that the exchange publishes. */
type Fetch = (retryBudget: RetryBudget) => Promise<SigningDomain>;

/**
 * The domain that a client signs for. Who may choose it could have orders signed that are carried out at another
 * exchange, so the first one stays and is never replaced, and a domain that other exchanges share is refused.
 */
export class PinnedDomain {
  readonly #fetch: Fetch;
  #pinned: Promise<SigningDomain> | null;

  /** `given` is signed for whatever the exchange publishes. */
  constructor(fetch: Fetch, given?: SigningDomain) {
    this.#fetch = fetch;
    this.#pinned = given === undefined ? null : Promise.resolve(given).then(own);
    // A given domain that is refused is reported where it is used.
    this.#pinned?.catch(() => {});
  }

  /** The domain, fetched within the retry budget of the call: the fetch of another call may end later than that. */
  async get(retryBudget: RetryBudget): Promise<SigningDomain> {
    if (this.#pinned === null) {
      const fetched = own(await this.#fetch(retryBudget));
      this.#pinned ??= Promise.resolve(fetched);
    }
    return await this.#pinned;
  }

  /** Throws `SigningDomainError` unless the exchange publishes the pinned domain. */
  async verify(retryBudget: RetryBudget): Promise<void> {
    const pinned = await this.get(retryBudget);
    const published = own(await this.#fetch(retryBudget));
    if (textOf(pinned) === textOf(published)) return;
    throw new SigningDomainError(
      `the exchange publishes the signing domain ${textOf(published)}, and this client signs for ${textOf(pinned)}`,
    );
  }
}

function own({ name, version, chainId, ...contracts }: SigningDomain): SigningDomain {
  const exchange = contracts.exchange.toLowerCase();
  const negRiskExchange = contracts.negRiskExchange.toLowerCase();
  const domain = { name, version, chainId, exchange, negRiskExchange };
  if (!isFamilyDomain(domain)) return domain;
  throw new SigningDomainError(
    `orders signed for ${textOf(domain)} could be carried out at other exchanges`,
  );
}

function textOf({ name, version, chainId, exchange, negRiskExchange }: SigningDomain): string {
  return `${name} ${version}, chain ${chainId}, ${exchange}, ${negRiskExchange}`;
}
