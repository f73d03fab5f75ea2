/** Credentials and certificates for connections to a registry. */
export interface RegistryAccess {
  /** Certificates of authorities for https, PEM; those of Node by default. */
  readonly ca?: string;
  /** In place of the user and password of the URL. */
  readonly username?: string;
  readonly password?: string;
}

/** The address of the registry, with user and password separated from its URL. */
export interface RegistryAddress {
  readonly url: string;
  readonly auth: { readonly username: string; readonly password: string } | null;
  readonly ca: string | null;
}

/** Splits `http://user:password@host/path`. */
export function addressOf(url: string, access: RegistryAccess = {}): RegistryAddress {
  const parsed = new URL(url);
  const username = access.username ?? decodeURIComponent(parsed.username);
  const password = access.password ?? decodeURIComponent(parsed.password);
  parsed.username = '';
  parsed.password = '';
  const bare = parsed.toString().replace(/\/+$/, '');
  const auth = username === '' ? null : { username, password };
  return { url: bare, auth, ca: access.ca ?? null };
}
