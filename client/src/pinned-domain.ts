import { isFamilyDomain, type SigningDomain } from '@pm/schemas';
import { SigningDomainError } from './errors.ts';

/**
 * The domain that a client signs for. Who may choose it could have orders signed that are carried out at another
 * exchange, so it is fetched once and never replaced, and a domain that other exchanges share is refused.
 */
export class PinnedDomain {
  readonly #fetch: () => Promise<SigningDomain>;
  #pinned: Promise<SigningDomain> | null;

  /** `given` is signed for whatever the exchange publishes. */
  constructor(fetch: () => Promise<SigningDomain>, given?: SigningDomain) {
    this.#fetch = fetch;
    this.#pinned = given === undefined ? null : Promise.resolve(given).then(own);
    // A given domain that is refused is reported where it is used.
    this.#pinned?.catch(() => {});
  }

  /** The domain; a fetch that failed is repeated by the next call. */
  get(): Promise<SigningDomain> {
    this.#pinned ??= this.#fetch()
      .then(own)
      .catch((error: unknown) => {
        this.#pinned = null;
        throw error;
      });
    return this.#pinned;
  }

  /** Throws `SigningDomainError` unless the exchange publishes the pinned domain. */
  async verify(): Promise<void> {
    const [pinned, published] = [await this.get(), own(await this.#fetch())];
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
