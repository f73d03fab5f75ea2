import { answeredLimits as answered } from '@pm/gateway/answered-places';
import { slotLimits } from '@pm/gateway/gateway';
import { streamShares } from '@pm/gateway/streams';
import { defaultHttpLimits, evictFrom, openingLimitOf } from '@pm/kit/http';
import { endedForMs } from '@pm/kit/listener';
import { requestsAtOnce } from '@pm/mcp/http/limits';
import { coveredRoutes, rateScopes } from '@pm/schemas/rate-limits';
import { bodyMaxBytes, type RouteDeclaration } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';

/** Scopes without routes. */
const failures = {
  claim: 'failed proofs of one claimed key from one address',
  address: 'all failed proofs from one address',
  wallet: 'requests of one wallet without reserved money that found no tokens; and of one address',
} as const;

/** The table of rate limits as Markdown. */
export function limitsTable(): string {
  const rows = rateScopes.map((scope) => {
    const { name, unit, windows, countedFor = 'claim' } = scope;
    const routes = coveredRoutes(scope).map(code).join(', ') || failures[countedFor];
    const limits = windows.map(({ limit, seconds }) => `${limit} / ${seconds} s`).join('; ');
    return `| \`${name}\` | ${routes} | ${limits} | ${unit} |`;
  });
  return ['| scope | routes | limit | counts |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** Limits of the connections, requests and bodies of clients, as Markdown. */
export function sharesTable(): string {
  const { connections, bodies, keepAliveTimeoutMs, proxyKeepAliveTimeoutMs } = defaultHttpLimits;
  const { ingress, reads, process } = slotLimits;
  const waits = `${count(ingress.waiting)} more wait for at most ${ingress.waitMs / 1_000} s; then 503 \`overloaded\``;
  const evicts = count(connections.inAll * evictFrom);
  const { ofEach, inAll } = requestsAtOnce;
  const rows = [
    openingRow(),
    [
      'open connections of a listener, streams apart',
      `${count(connections.perAddress)} (\`PM_CONNECTIONS_PER_ADDRESS\`)`,
      count(connections.inAll),
      `one of the address that is idle, or has no whole head of a request, makes room, else it is closed at once; from ${evicts} on one of the address with the most makes room`,
    ],
    [
      'an idle connection',
      `${keepAliveTimeoutMs / 1_000} s; ${proxyKeepAliveTimeoutMs / 1_000} s behind trusted proxies`,
      '',
      'closed',
    ],
    [
      'streams that a gateway forwards, also those that the service refuses',
      `${count(streamShares.ofEach)} (\`PM_CONNECTIONS_PER_ADDRESS\`)`,
      count(streamShares.inAll),
      '503',
    ],
    [
      'a stream that was refused or has ended, and whose client does not close',
      `${endedForMs / 1_000} s at most`,
      '',
      'closed once its last bytes are written',
    ],
    ['a response of which no byte is taken', `${connections.stallMs / 1_000} s`, '', 'closed'],
    [
      'bytes of bodies from their headers to the response',
      mebibytes(bodies.ofEach),
      mebibytes(bodies.inAll),
      '503 `overloaded`',
    ],
    [
      'writes that a gateway has at a process, and besides them cancels and heartbeats, until the response is taken',
      String(ingress.atOnce),
      String(process.atOnce),
      waits,
    ],
    ['reads that a gateway has at a process', String(reads.atOnce), String(process.atOnce), waits],
    ['requests of `/mcp`', String(ofEach), String(inAll), '503'],
    [
      `how far in the log a gateway has answered, for ${answered.keptMs / 1_000} s`,
      `${answered.perClient} partitions; of a wallet and of an agent key as many`,
      `${count(answered.places)} of ${count(answered.clients)} clients`,
      'the oldest is forgotten: such a client reads as if nothing was answered to it',
    ],
  ];
  const head = [
    '| what clients hold | of one address | in all | beyond it |',
    '| --- | --- | --- | --- |',
  ];
  return [...head, ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');
}

function openingRow(): readonly string[] {
  const { most, renewMs } = openingLimitOf(defaultHttpLimits.connections);
  const atOnce = `${count(most)} (twice \`PM_CONNECTIONS_PER_ADDRESS\`) at once`;
  return [
    'new connections of a public listener, streams too',
    `${atOnce}, and as many again in ${renewMs / 1_000} s`,
    '',
    'closed at once',
  ];
}

/** The largest bodies as Markdown: of the services, and of the routes that differ. */
export function bodiesTable(): string {
  const services = Object.entries(bodyMaxBytes).map(
    ([service, bytes]) => `| all of ${service} | ${kibibytes(bytes)} |`,
  );
  const own = (routes as readonly RouteDeclaration[]).flatMap((route) =>
    route.bodyMaxBytes === undefined
      ? []
      : [`| \`${route.method} ${route.path}\` | ${kibibytes(route.bodyMaxBytes)} |`],
  );
  return ['| routes | largest body |', '| --- | --- |', ...services, ...own].join('\n');
}

const count = (value: number): string => value.toLocaleString('en-US');
const kibibytes = (bytes: number): string => `${bytes / 1_024} KiB`;
const mebibytes = (bytes: number): string => `${bytes / 1_048_576} MiB`;

/** The generated tables by the name of their marks. */
const tables = { limits: limitsTable, shares: sharesTable, bodies: bodiesTable };

/** The text with the tables between their marks renewed. Throws a `RangeError` when marks are missing. */
export function withLimitsTables(text: string): string {
  let renewed = text;
  for (const [name, table] of Object.entries(tables)) {
    const [begin, end] = [`<!-- ${name}:begin (npm run docs) -->`, `<!-- ${name}:end -->`];
    const [from, to] = [renewed.indexOf(begin), renewed.indexOf(end)];
    if (from < 0 || to < from) throw new RangeError(`${begin} and ${end} mark the table`);
    renewed = `${renewed.slice(0, from + begin.length)}\n\n${table()}\n\n${renewed.slice(to)}`;
  }
  return renewed;
}

/** Groups and prefixes are words, routes are code. */
const code = (route: string): string => (route.startsWith('all ') ? route : `\`${route}\``);
