import { slugText } from '../../src/demo/catalog.ts';
import { recordedTrades } from '../../src/demo/recordings.ts';
import { portsFromEnvironment } from '../../src/local/ports.ts';
import { welcomeScreen } from '../../src/panel/welcome.ts';
import { Places } from '../../src/stack/scale.ts';

const stack = {
  baseUrl: 'http://127.0.0.1:8080',
  urls: {
    kafka: 'kafka:9092',
    registry: 'http://registry',
    clickhouse: 'http://clickhouse:8123',
    redis: 'redis://redis:6379',
  },
  names: { clickhouseDatabase: 'pm', topicPrefix: '', redisPrefix: 'pm' },
  readersPassword: null,
  logDir: '/logs',
  operatorsFile: '/data/operators.json',
  ports: portsFromEnvironment({}),
  places: new Places({}, [portsFromEnvironment({})]),
  otherTables: [],
  familyDomains: true,
};

test('the first lines to paste are about the market with the most recorded trades', () => {
  const questions = recordedTrades().map(({ question }) => question);
  const count = (one: string) => questions.filter((question) => question === one).length;
  const most = [...new Set(questions)].sort((one, other) => count(other) - count(one))[0] ?? '';
  const demoMarkets = ['another', slugText(most)].map((slug, index) => ({
    slug,
    conditionId: `0x${index}`,
    tokenIds: [`${index}0`, `${index}1`] as const,
  }));
  const screen = welcomeScreen({ ...stack, demoMarkets });
  expect(screen).toContain('/book?token_id=10');
  expect(screen).toContain('/trades?market=0x1');
  expect(screen).toContain('book.mjs 10 http://127.0.0.1:8080');
  expect(screen).toContain('ws://127.0.0.1:8080/v1/stream');
  expect(screen).not.toContain('token_id=00');
});

test('without a demo no test wallet and no market is shown', () => {
  const screen = welcomeScreen({ ...stack, demoMarkets: [] });
  expect(screen).toContain('No market was listed');
  expect(screen).toContain('http://127.0.0.1:8080/console/');
  expect(screen).toContain('operators in /data/operators.json');
  expect(screen).not.toMatch(/curl|Hardhat|first-trade/);
});

test('orders signed for other exchanges are named where they are accepted', () => {
  const accepting = welcomeScreen({ ...stack, demoMarkets: [] });
  expect(accepting).toMatch(/sign for other exchanges[\s\S]*PM_FAMILY_DOMAINS=false/);
  const own = welcomeScreen({ ...stack, familyDomains: false, demoMarkets: [] });
  expect(own).toContain('http://127.0.0.1:8080/signing-domain');
  expect(own).not.toContain('other exchanges');
});

test('further processes are shown with their addresses', () => {
  const ports = portsFromEnvironment({});
  const second = { ...ports, gateway: 20_001, gatewayOps: 20_002, matcherOps: 20_003 };
  const places = new Places({ gateway: 2, matcher: 2 }, [ports, second]);
  const screen = welcomeScreen({ ...stack, places, demoMarkets: [] });
  expect(screen).toMatch(/gateway-2 +http:\/\/127.0.0.1:20001, health 127.0.0.1:20002/);
  expect(screen).toMatch(/matcher-2 +health 127.0.0.1:20003/);
  expect(welcomeScreen({ ...stack, demoMarkets: [] })).not.toContain('Further processes');
});
