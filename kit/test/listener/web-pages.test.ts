import { webPageProblem } from '../../src/listener/web-pages.ts';

const socket = { localAddress: '10.1.2.3' };
const problemOf = (headers: Record<string, string | undefined>, names: readonly string[] = []) =>
  webPageProblem({ headers, socket }, names);

const foreignHost = 'the host is not a name of this server';
const page = 'requests of web pages are refused';

/** Each name with no port, and with one that a tunnel may have. */
const withPorts = (names: readonly string[]) =>
  names.flatMap((name) => [name, `${name}:18002`, `${name}:9`]);

test('a host is known by a loopback name, the address of the connection or a given name, with any port', () => {
  const names = ['operator', 'Ops.Example.com', '::ffff:10.0.0.9', 'fd00::7'];
  const known = ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]', '10.1.2.3'];
  const given = ['operator', 'ops.example.com', '10.0.0.9', '[fd00::7]'];
  for (const host of withPorts([...known, ...given]))
    expect([host, problemOf({ host }, names)]).toEqual([host, null]);
  for (const host of withPorts(given))
    expect([host, problemOf({ host })]).toEqual([host, foreignHost]);
});

test.each([
  ...withPorts(['page.example', '127.0.0.1.page.example', 'localhost.page.example', '10.1.2.4']),
  ...[
    '',
    ':18002',
    'localhost:',
    'localhost:port',
    'a@localhost',
    'localhost, page.example',
    '::1',
  ],
])('a request for the host "%s" is refused', (host) => {
  expect(problemOf({ host })).toBe(foreignHost);
});

test('a request without a host is refused', () => {
  expect(problemOf({})).toBe(foreignHost);
});

test('of what browsers say of the origin, only that of the listener itself and none pass', () => {
  const host = 'localhost:18002';
  const origins = [undefined, `http://${host}`, `https://${host}`];
  const others = ['', 'null', 'http://localhost', 'http://localhost:1', 'https://page.example'];
  const sites = [undefined, 'none', 'same-origin'];
  const otherSites = ['', 'cross-site', 'same-site', 'none, none', 'new'];
  for (const origin of [...origins, ...others])
    for (const site of [...sites, ...otherSites]) {
      const passes = origins.includes(origin) && sites.includes(site);
      const found = problemOf({ host, origin, 'sec-fetch-site': site });
      expect([origin, site, found]).toEqual([origin, site, passes ? null : page]);
    }
});
