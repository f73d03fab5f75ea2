import {
  failoverSettings,
  reportSlowBrokers,
  sessionSettings,
  slowSettings,
} from '../../src/setup/broker-settings.ts';

function brokers(count: number, changes: Readonly<Record<string, string>> = {}) {
  const advised = Object.entries({ ...failoverSettings, ...sessionSettings });
  const settings = new Map([
    ...advised.map(([name, value]) => [name, String(value)] as const),
    ...Object.entries(changes),
  ]);
  return new Map(Array.from({ length: count }, (_, index) => [index + 1, settings]));
}

test('brokers with the advised settings, or with shorter ones, are not reported', () => {
  expect(slowSettings(brokers(3))).toEqual([]);
  expect(slowSettings(brokers(3, { 'broker.session.timeout.ms': '800' }))).toEqual([]);
});

test('each setting that takes longer is reported once, with its brokers', () => {
  const slow = brokers(3, { 'broker.session.timeout.ms': '9000' });
  slow.set(2, brokers(2).get(2) ?? new Map());
  expect(slowSettings(slow)).toEqual([
    'broker.session.timeout.ms is 9000 on broker 1, 3, advised is 1000',
  ]);
});

test('a lone broker cannot be replaced: only its groups are looked at', () => {
  const settings = { 'broker.session.timeout.ms': '9000', 'group.min.session.timeout.ms': '6000' };
  expect(slowSettings(brokers(1, settings))).toEqual([
    'group.min.session.timeout.ms is 6000 on broker 1, advised is 1000',
  ]);
});

test('a cluster that does not show its settings is named, and nothing is refused', async () => {
  const lines: string[] = [];
  const progress = (line: string) => void lines.push(line);
  await reportSlowBrokers({ brokerSettings: async () => new Map() }, progress);
  await reportSlowBrokers({ brokerSettings: async () => brokers(3) }, progress);
  expect(lines).toEqual(['brokers: their settings are not shown to this account']);
});
