/** The address of the registry, with user and password separated from its URL. */
export interface RegistryAddress {
  readonly url: string;
  readonly auth: { readonly username: string; readonly password: string } | null;
}

/** Splits `http://user:password@host/path`. */
export function addressOf(url: string): RegistryAddress {
  const parsed = new URL(url);
  const username = decodeURIComponent(parsed.username);
  const password = decodeURIComponent(parsed.password);
  parsed.username = '';
  parsed.password = '';
  const bare = parsed.toString().replace(/\/+$/, '');
  return { url: bare, auth: username === '' ? null : { username, password } };
}
