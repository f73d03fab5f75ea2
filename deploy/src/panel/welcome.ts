import { checksumAddress } from '@pm/schemas/ids';
import { shownMarket } from '../demo/market-maker.ts';
import { fedEvent } from '../demo/recordings.ts';
import { testAccountKeys, testAccounts, testAccountUsdc } from '../demo/wallets.ts';
import { loopback } from '../local/ports.ts';
import { rebuildAdvice } from '../setup/tables.ts';
import type { RunningStack } from '../stack/stack.ts';
import { engineTable } from './text.ts';

type WelcomedStack = Pick<
  RunningStack,
  | 'baseUrl'
  | 'demoMarkets'
  | 'familyDomains'
  | 'logDir'
  | 'names'
  | 'operatorsFile'
  | 'otherTables'
  | 'places'
  | 'ports'
  | 'readersPassword'
  | 'urls'
>;

/** First screen of a started stack: base URL, wallets and requests to paste; without a demo, how to list markets. */
export function welcomeScreen(stack: WelcomedStack): string {
  const { baseUrl, otherTables, demoMarkets } = stack;
  return [
    '',
    `The exchange is open at ${baseUrl}`,
    `Console:                ${baseUrl}/console/`,
    `Streams:                ${baseUrl.replace(/^http/, 'ws')}/v1/stream`,
    `Agents (MCP):           ${baseUrl}/mcp`,
    `Signing domain:         ${baseUrl}/signing-domain`,
    ...(stack.familyDomains ? familyLines : []),
    `Operator:               http://${loopback}:${stack.ports.operator}/operator/status`,
    `  operators in ${stack.operatorsFile}, the token of the first one in keys.json beside it`,
    ...placeLines(stack.places),
    '',
    ...(demoMarkets.length === 0 ? emptyLines : demoLines(stack)),
    '',
    'Engines:',
    ...engineTable(stack, stack.readersPassword)
      .split('\n')
      .map((line) => `  ${line}`),
    '',
    ...(demoMarkets.length === 0 ? [] : [firstTradeLine(baseUrl)]),
    `Logs: ${stack.logDir}      Processes: npm run stack -- status      Stop: Ctrl-C`,
    ...(otherTables.length === 0 ? [] : ['', `Note: ${rebuildAdvice(otherTables)}`]),
    '',
  ].join('\n');
}

/** Where the further processes listen; their ports change from start to start. */
function placeLines({ others }: WelcomedStack['places']): readonly string[] {
  if (others.length === 0) return [];
  const shown = others.map(({ name, own }) => {
    const [first = '', ops] = own.map((port) => `${loopback}:${port}`);
    const where = ops === undefined ? `health ${first}` : `http://${first}, health ${ops}`;
    return `  ${name.padEnd(22)}${where}`;
  });
  return ['Further processes:', ...shown];
}

const familyLines = [
  '  Orders that published clients sign for other exchanges of the API family are accepted too, and could be',
  '  carried out there: for test wallets only, which alone have money here. Off: PM_FAMILY_DOMAINS=false',
];

const emptyLines = [
  'No market was listed and no wallet was funded by this start.',
  '  Markets:  npm run catalog -- import FILE        Money:  docs/operating/operator.md        Both, for a try:  --demo',
];

function demoLines(stack: WelcomedStack): readonly string[] {
  return [
    `Ten funded test wallets (${testAccountUsdc} USDC each; the public Hardhat keys, never for real money):`,
    ...walletLines(),
    '',
    'Six lines to paste:',
    ...curlLines(stack).map((line) => `  ${line}`),
  ];
}

function firstTradeLine(baseUrl: string): string {
  return `A first trade:  node client/examples/first-trade.mjs ${baseUrl}      All reads:  npm run tour`;
}

function walletLines(): string[] {
  return testAccounts().map(
    (account, index) => `  ${checksumAddress(account.address)}  key ${testAccountKeys[index]}`,
  );
}

/** Example requests about a market with a book, trades and holders, whose event has a picture and comments. */
function curlLines({ baseUrl, demoMarkets }: WelcomedStack): string[] {
  const market = shownMarket(demoMarkets);
  if (market === null) return [];
  const [token] = market.tokenIds;
  return [
    `curl '${baseUrl}/book?token_id=${token}'`,
    `curl '${baseUrl}/trades?market=${market.conditionId}&limit=5'`,
    `curl '${baseUrl}/prices-history?market=${token}&interval=1h&fidelity=1'`,
    `curl '${baseUrl}/holders?market=${market.conditionId}&limit=5'`,
    `curl '${baseUrl}/events/slug/${fedEvent.slug}'`,
    `node client/examples/streams/book.mjs ${token} ${baseUrl}`,
  ];
}
