/** The parts of a request by which it is judged, as Node gives them. */
export interface JudgedRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly socket: { readonly localAddress?: string | undefined };
}

/** Names of a machine for itself, as a URL has them. */
const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Why a listener for tools refuses a request that a web page may have sent; null when none did. Names of the listener
 * besides loopback and the address of the connection: `names`, without ports.
 *
 * A page cannot choose `Host`: one whose name was made to resolve to this machine (DNS rebinding) sends that name. And
 * browsers tell the origin of a page: in `Origin` with all but simple reads, in `Sec-Fetch-Site` with those too.
 */
export function webPageProblem(
  { headers, socket: { localAddress = '' } }: JudgedRequest,
  names: readonly string[] = [],
): string | null {
  if (!isKnownHost(headers['host'], [...names, localAddress]))
    return 'the host is not a name of this server';
  return isOfOtherOrigin(headers) ? 'requests of web pages are refused' : null;
}

const hostForm = /^(\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i;

/** Whether `Host` has a loopback name or one of `names`. Ports are not compared: tunnels choose their own. */
function isKnownHost(host: JudgedRequest['headers'][string], names: readonly string[]): boolean {
  const [, name] = (typeof host === 'string' ? hostForm.exec(host) : null) ?? [];
  return name !== undefined && [...loopbackNames, ...names.map(inUrl)].includes(name.toLowerCase());
}

/** A name or an address as a URL has it: IPv6 in brackets, an address of IPv4 in one of IPv6 as itself. */
function inUrl(name: string): string {
  const address = name.toLowerCase().replace(/^::ffff:(?=[\d.]+$)/, '');
  return address.includes(':') ? `[${address}]` : address;
}

/** Whether a browser names another origin than that of `Host`. */
function isOfOtherOrigin({
  host,
  origin,
  'sec-fetch-site': site = 'none',
}: JudgedRequest['headers']): boolean {
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`)
    return true;
  return site !== 'none' && site !== 'same-origin';
}
