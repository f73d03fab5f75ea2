import { kafkaSettings } from '../../src/local/engines/kafka-settings.ts';

const node = (id: number) => ({ id, port: 9000 + id, controllerPort: 9100 + id });

function settingsOf(...parameters: Parameters<typeof kafkaSettings>): Record<string, string> {
  const lines = kafkaSettings(...parameters)
    .trim()
    .split('\n');
  return Object.fromEntries(lines.map((line) => [/^[^=]+/.exec(line)?.[0] ?? '', line]));
}

test('a lone broker has one copy of everything and the fencing of its defaults', () => {
  const settings = settingsOf(node(1), [node(1)], '/log');
  expect(settings).toMatchObject({
    'controller.quorum.voters': 'controller.quorum.voters=1@127.0.0.1:9101',
    listeners: 'listeners=PLAINTEXT://127.0.0.1:9001,CONTROLLER://127.0.0.1:9101',
    'default.replication.factor': 'default.replication.factor=1',
    'min.insync.replicas': 'min.insync.replicas=1',
  });
  expect(settings).not.toHaveProperty('broker.session.timeout.ms');
});

test('each of three brokers knows all voters, keeps three copies with two in sync, and elects no leader that lacks some', () => {
  const nodes = [node(1), node(2), node(3)];
  for (const one of nodes)
    expect(settingsOf(one, nodes, '/log')).toMatchObject({
      'node.id': `node.id=${one.id}`,
      'controller.quorum.voters':
        'controller.quorum.voters=1@127.0.0.1:9101,2@127.0.0.1:9102,3@127.0.0.1:9103',
      'default.replication.factor': 'default.replication.factor=3',
      'offsets.topic.replication.factor': 'offsets.topic.replication.factor=3',
      'min.insync.replicas': 'min.insync.replicas=2',
      'unclean.leader.election.enable': 'unclean.leader.election.enable=false',
      'broker.session.timeout.ms': 'broker.session.timeout.ms=1000',
    });
});

test('clients of a proxy are sent to the proxy, and other brokers are not', () => {
  const proxied = { ...node(1), proxied: { port: 9201, advertisedPort: 9301 } };
  const settings = settingsOf(proxied, [proxied], '/log');
  const brokers = 'PLAINTEXT://127.0.0.1:9001';
  expect(settings).toMatchObject({
    listeners: `listeners=${brokers},CONTROLLER://127.0.0.1:9101,PROXIED://127.0.0.1:9201`,
    'advertised.listeners': `advertised.listeners=${brokers},PROXIED://127.0.0.1:9301`,
    'inter.broker.listener.name': 'inter.broker.listener.name=PLAINTEXT',
  });
});
