import { readIngressConfig } from '../../src/config.ts';

const variables = {
  PM_KAFKA_BROKERS: '127.0.0.1:9092',
  PM_REGISTRY_URL: 'http://127.0.0.1:8081',
  PM_REDIS_URL: 'redis://127.0.0.1:6379',
  PM_OPS_PORT: '0',
  PM_HTTP_PORT: '0',
  PM_OPERATOR_PORT: '0',
  PM_OPERATORS_FILE: '/etc/operators.json',
  PM_OPERATOR_SEED: '11'.repeat(32),
  PM_SIGNOFF_SEED: '22'.repeat(32),
  PM_KEY_SECRET: '33'.repeat(32),
  PM_ROOT_KEY: '44'.repeat(32),
};

test('a public host opens neither the listener of the operator nor the metrics', () => {
  const { host, opsHost, operatorHost } = readIngressConfig({ ...variables, PM_HOST: '0.0.0.0' });
  expect({ host, opsHost, operatorHost }).toEqual({
    host: '0.0.0.0',
    opsHost: '127.0.0.1',
    operatorHost: '127.0.0.1',
  });
});
