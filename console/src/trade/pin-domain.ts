import { type ExchangeClient, SigningDomainError } from '@pm/client';

/** The part of the browser's storage that is used. */
interface TextStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

const storedDomain = 'console.signingDomain';

/**
 * Notes what a wallet with real money signs for at its first visit. Another domain could be that of another exchange,
 * so the person decides on it. Throws `SigningDomainError` when the person declines.
 */
export async function pinDomain(
  client: Pick<ExchangeClient, 'signingDomain'>,
  storage: TextStorage,
  confirm: (question: string) => boolean,
): Promise<void> {
  const published = JSON.stringify(await client.signingDomain());
  const noted = storage.getItem(storedDomain) ?? published;
  const question = `This exchange has another signing domain than at your last visit: ${published}. It was ${noted}. Sign for the new one?`;
  if (noted !== published && !confirm(question)) {
    throw new SigningDomainError('the signing domain has changed');
  }
  storage.setItem(storedDomain, published);
}
