import { readOperatorConfig } from '../../../operator/src/config.ts';
import { readIngressConfig } from '../../src/config.ts';

const shared = {
  PM_KAFKA_BROKERS: '127.0.0.1:9092',
  PM_REGISTRY_URL: 'http://127.0.0.1:8081',
  PM_REDIS_URL: 'redis://127.0.0.1:6379',
  PM_OPS_PORT: '0',
  PM_ROOT_KEY: '44'.repeat(32),
};
const variables = {
  ...shared,
  PM_HTTP_PORT: '0',
  PM_SIGNOFF_SEED: '22'.repeat(32),
  PM_KEY_SECRET: '33'.repeat(32),
};
const ofOperator = {
  PM_OPERATOR_PORT: '0',
  PM_OPERATORS_FILE: '/etc/operators.json',
  PM_OPERATOR_SEED: '11'.repeat(32),
};

/** The problems of a configuration by variable. */
function problemsOf(read: () => unknown): unknown {
  try {
    read();
    return null;
  } catch (error) {
    return Reflect.get(error as object, 'facts');
  }
}

test('a public host opens neither the metrics nor, in another process, the listener of the operator', () => {
  const { host, opsHost } = readIngressConfig({ ...variables, PM_HOST: '0.0.0.0' });
  expect({ host, opsHost }).toEqual({ host: '0.0.0.0', opsHost: '127.0.0.1' });
  const { operatorHost } = readOperatorConfig({ ...shared, ...ofOperator });
  expect(operatorHost).toBe('127.0.0.1');
});

test('ingress refuses the variables of the operator by name, without their values', () => {
  const given = { ...variables, ...ofOperator, PM_TICK_REFINEMENT: 'false' };
  const why = 'belongs to the program operator, and is not for this one';
  expect(problemsOf(() => readIngressConfig(given))).toEqual(
    Object.fromEntries(
      [...Object.keys(ofOperator), 'PM_TICK_REFINEMENT'].map((name) => [name, why]),
    ),
  );
});

test.each(['PM_SIGNOFF_SEED', 'PM_KEY_SECRET', 'PM_HTTP_PORT'] as const)(
  'the process of the operator is not given %s',
  (name) => {
    const given = { ...shared, ...ofOperator, [name]: variables[name] };
    expect(problemsOf(() => readOperatorConfig(given))).toHaveProperty(name);
  },
);
