import { resolve } from 'node:path';
import {
  clickhouseFields,
  kafkaFields,
  redisFields,
  registryFields,
} from '../../src/config/engines.io.ts';
import {
  boolean,
  type Fields,
  integer,
  list,
  oneOf,
  redisAddress,
  secret,
  text,
  url,
} from '../../src/config/fields.ts';
import { path, readConfig, readParentPipe, readServiceLinks } from '../../src/config/read.io.ts';
import { namesOf, serviceFields } from '../../src/config/shared.ts';
import { Fault } from '../../src/fault/index.ts';

/** Documents of a field, of no matter to its reading. */
const meaning = 'A setting.';
const unit = 'items';

function faultOf(read: () => unknown): Fault {
  try {
    read();
  } catch (error) {
    if (error instanceof Fault) return error;
  }
  throw new Error('no fault');
}

/** Problem of one variable with the given value. */
function problem(fields: Fields, env: Record<string, string>): string {
  return Object.values(faultOf(() => readConfig(fields, env)).facts).join(' | ');
}

describe('reading', () => {
  test('gives every kind of field its value', () => {
    const config = readConfig(
      {
        name: text('PM_NAME', { meaning }),
        lingerMs: integer('PM_LINGER_MS', { meaning, unit, min: 0, max: 100 }),
        verbose: boolean('PM_VERBOSE', { meaning }),
        api: url('PM_API', { meaning }),
        brokers: list('PM_BROKERS', { meaning }),
        stack: oneOf('PM_STACK', ['local', 'containers'], { meaning }),
        seed: secret('PM_SEED', { meaning, bytes: 4 }),
        data: path('PM_DATA', { meaning }),
      },
      {
        PM_NAME: 'a b',
        PM_LINGER_MS: '100',
        PM_VERBOSE: 'true',
        PM_API: 'http://h:1/base/',
        PM_BROKERS: 'a:1, b:2',
        PM_STACK: 'containers',
        PM_SEED: '00ff10Aa',
        PM_DATA: 'data/x',
        PATH: '/bin',
      },
    );
    expect(config).toEqual({
      name: 'a b',
      lingerMs: 100,
      verbose: true,
      api: 'http://h:1/base',
      brokers: ['a:1', 'b:2'],
      stack: 'containers',
      seed: Buffer.from('00ff10aa', 'hex'),
      data: resolve('data/x'),
    });
  });

  test('takes the default for a missing and for an empty variable', () => {
    const fields = { ms: integer('PM_MS', { meaning, unit, min: 1, max: 9, default: 5 }) };
    expect(readConfig(fields, {}).ms).toBe(5);
    expect(readConfig(fields, { PM_MS: '' }).ms).toBe(5);
  });

  test('reads a secret as hex with 0x, or as base64url with or without padding', () => {
    const bytes = Buffer.alloc(32, 0xfb);
    const fields = { key: secret('PM_KEY', { meaning, bytes: 32 }) };
    const forms = [`0x${bytes.toString('hex')}`, bytes.toString('base64url')];
    for (const given of [...forms, `${bytes.toString('base64url')}=`]) {
      expect(readConfig(fields, { PM_KEY: given }).key).toEqual(bytes);
    }
  });

  test('has defaults for all that is shared but the addresses', () => {
    const config = readConfig(
      { ...kafkaFields, ...registryFields, ...redisFields, ...clickhouseFields, ...serviceFields },
      {
        PM_KAFKA_BROKERS: '127.0.0.1:9092',
        PM_REGISTRY_URL: 'http://127.0.0.1:8081/apis/ccompat/v7',
        PM_REDIS_URL: 'redis://127.0.0.1:6379',
        PM_CLICKHOUSE_URL: 'http://127.0.0.1:8123',
        PM_OPS_PORT: '0',
      },
    );
    expect(config).toEqual({
      kafkaBrokers: ['127.0.0.1:9092'],
      topicPrefix: '',
      kafkaTls: 'off',
      kafkaTlsCa: '',
      kafkaTlsCert: '',
      kafkaTlsKey: '',
      kafkaSaslMechanism: 'off',
      kafkaSaslUsername: '',
      kafkaSaslPassword: '',
      kafkaSaslTokenFile: '',
      kafkaSaslExtensions: [],
      kafkaHiddenSettings: [],
      registryUrl: 'http://127.0.0.1:8081/apis/ccompat/v7',
      registryTlsCa: '',
      registryUsername: '',
      registryPassword: '',
      redisUrl: 'redis://127.0.0.1:6379',
      redisTlsCa: '',
      redisUsername: '',
      redisPassword: '',
      redisPrefix: 'pm',
      clickhouseUrl: 'http://127.0.0.1:8123',
      clickhouseDatabase: 'pm',
      clickhouseUser: 'default',
      clickhousePassword: '',
      clickhousePasswordFile: '',
      clickhouseTlsCa: '',
      logLevel: 'info',
      opsHost: '127.0.0.1',
      opsPort: 0,
    });
  });

  test('watches the parent pipe only when it is 1', () => {
    expect(readParentPipe({ PM_PARENT_PIPE: '1' })).toBe(true);
    expect(readParentPipe({ PM_PARENT_PIPE: 'yes' })).toBe(false);
    expect(readParentPipe({})).toBe(false);
  });
});

describe('refusing', () => {
  test.each([
    ['a fraction', { PM_X: '1.5' }],
    ['an exponent', { PM_X: '1e1' }],
    ['too small', { PM_X: '0' }],
    ['too large', { PM_X: '11' }],
    ['a space', { PM_X: ' 5' }],
    ['hex', { PM_X: '0x5' }],
  ])('refuses an integer that is %s and says the range', (_, env) => {
    expect(problem({ x: integer('PM_X', { meaning, unit, min: 1, max: 10 }) }, env)).toBe(
      `given "${env.PM_X}"; allowed: a whole number from 1 to 10`,
    );
  });

  test.each([
    ['boolean', boolean('PM_X', { meaning }), 'yes', '1, true, 0, false'],
    ['oneOf', oneOf('PM_X', ['a', 'b'], { meaning }), 'c', 'a, b'],
    ['url', url('PM_X', { meaning }), 'ftp://a', 'a URL starting with http:// or https://'],
    [
      'url that is none',
      url('PM_X', { meaning }),
      'http://',
      'a URL starting with http:// or https://',
    ],
    ['list with a repetition', list('PM_X', { meaning }), 'a,a', '1 to 100 different items'],
    ['list with a hole', list('PM_X', { meaning }), 'a,,b', '1 to 100 different items'],
    ['text', text('PM_X', { meaning, pattern: /^a+$/ }), 'b', 'text like ^a+$'],
    ['path', path('PM_X', { meaning }), 'a\u0000b', 'a path'],
  ])('refuses a bad %s and says what is allowed', (_, field, given, allowed) => {
    expect(problem({ x: field }, { PM_X: given })).toContain(`allowed: ${allowed}`);
  });

  test.each(['00', 'zz'.repeat(32), `${'A'.repeat(43)}B`, 'A'.repeat(42), ' '.repeat(43)])(
    'refuses the secret %s without showing it',
    (given) => {
      const found = problem({ key: secret('PM_KEY', { meaning, bytes: 32 }) }, { PM_KEY: given });
      expect(found).not.toContain(given);
      expect(found).toContain(`[secret of ${given.length} characters]`);
    },
  );

  test('hides secret texts and the user part of URLs', () => {
    const fields = {
      a: text('PM_A', { meaning, secret: true, pattern: /^x$/ }),
      b: url('PM_B', { meaning }),
    };
    const found = problem(fields, { PM_A: 'hunter2', PM_B: 'gopher://me:hunter2@h' });
    expect(found).not.toContain('hunter2');
    expect(found).toContain('gopher://[secret]@h');
    const redis = { c: redisAddress('PM_C', { meaning }) };
    const given = 'redis+sentinel://me:hunt/er@2@a:1,b:2';
    expect(problem(redis, { PM_C: given })).toContain('given "redis+sentinel://[secret]@a:1,b:2"');
  });

  test('reports all problems at once, by variable', () => {
    const fault = faultOf(() =>
      readConfig(
        { a: text('PM_A', { meaning }), b: integer('PM_B', { meaning, unit, min: 1, max: 2 }) },
        { PM_B: '3', PM_C: '' },
      ),
    );
    expect([fault.code, fault.reaction]).toEqual(['invalid_config', 'stop']);
    expect(Object.keys(fault.facts)).toEqual(['PM_A', 'PM_B', 'PM_C']);
    expect(fault.facts['PM_A']).toBe('missing; allowed: any text');
  });

  test('refuses an unknown PM_ variable with the nearest known name', () => {
    const fields = { ...kafkaFields };
    const env = { PM_KAFKA_BROKERS: 'a:1', PM_TOPICS_PREFIX: 'x' };
    expect(problem(fields, env)).toBe('unknown; the nearest known name is PM_TOPIC_PREFIX');
  });

  test('lets variables of other rooms, of tests and of other programs pass', () => {
    const env = { PM_KAFKA_BROKERS: 'a:1', PM_REDIS_URL: 'x', PM_TEST_KAFKA: 'x', HOME: '/' };
    const known = namesOf(redisFields);
    expect(readConfig(kafkaFields, env, { known }).kafkaBrokers).toEqual(['a:1']);
  });

  describe('links of Kubernetes Services', () => {
    const http = { PM_HTTP_PORT: '8080' };
    const fields = { port: integer('PM_HTTP_PORT', { meaning, unit, min: 1, max: 65_535 }) };
    /** A kubelet sets these for a Service `pm-gateway` with a port `http`, and for one that is `pm`. */
    const links = {
      PM_GATEWAY_SERVICE_HOST: '10.0.0.1',
      PM_GATEWAY_SERVICE_PORT: '8080',
      PM_GATEWAY_SERVICE_PORT_HTTP: '8080',
      PM_GATEWAY_PORT: 'tcp://10.0.0.1:8080',
      PM_GATEWAY_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
      PM_GATEWAY_PORT_8080_TCP_PROTO: 'tcp',
      PM_GATEWAY_PORT_8080_TCP_PORT: '8080',
      PM_GATEWAY_PORT_8080_TCP_ADDR: '10.0.0.1',
      PM_QUERY_API_PORT: 'udp://[fd00::1]:53',
      PM_SERVICE_HOST: '10.0.0.2',
      PM_PORT: 'tcp://10.0.0.2:80',
    };

    test('are left alone and named', () => {
      const env = { ...http, ...links, GATEWAY_SERVICE_HOST: '10.0.0.3' };
      expect(readConfig(fields, env)).toEqual({ port: 8080 });
      expect(readServiceLinks(env)).toEqual(Object.keys(links));
    });

    test('are left alone under the name of another program too', () => {
      const elsewhere = { program: 'operator', names: ['PM_OPERATOR_PORT'] };
      const env = { ...http, PM_OPERATOR_PORT: 'tcp://10.0.0.1:18002' };
      expect(readConfig(fields, env, { elsewhere })).toEqual({ port: 8080 });
      const foreign = { ...http, PM_OPERATOR_PORT: '18002' };
      expect(faultOf(() => readConfig(fields, foreign, { elsewhere })).facts).toEqual({
        PM_OPERATOR_PORT: 'belongs to the program operator, and is not for this one',
      });
    });

    test('hide no setting of such a name: it is read, and the value of a link refused', () => {
      const own = { own: integer('PM_OWN_SERVICE_PORT', { meaning, unit, min: 1, max: 9 }) };
      expect(readConfig(own, { PM_OWN_SERVICE_PORT: '7' })).toEqual({ own: 7 });
      expect(readServiceLinks(http)).toEqual([]);
      expect(problem(fields, { PM_HTTP_PORT: 'tcp://10.0.0.1:80' })).toBe(
        'given "tcp://10.0.0.1:80"; a Kubernetes Service of that name has set it; allowed: a whole number from 1 to 65535',
      );
    });

    test.each([
      ['PM_GATEWAY_PORT', '8080'],
      ['PM_GATEWAY_PORT', 'http://10.0.0.1:8080'],
      ['PM_GATEWAY_PORTS', 'tcp://10.0.0.1:8080'],
      ['PM_GATEWAY_SERVICE_HOSTS', '10.0.0.1'],
      ['PM_GATEWAY_PORT_HTTP_TCP', 'tcp://10.0.0.1:8080'],
      ['PM_GATEWAY_PORT_8080_HTTP', 'tcp://10.0.0.1:8080'],
      ['PM_gateway_SERVICE_HOST', '10.0.0.1'],
    ])('are of another form than %s=%s, which is refused', (name, value) => {
      expect(problem(fields, { ...http, [name]: value })).toContain('unknown; the nearest');
    });
  });

  test('checks relations once the variables are sound', () => {
    const fields = {
      heartbeatMs: integer('PM_HEARTBEAT_MS', { meaning, unit, min: 1, max: 100 }),
      sessionMs: integer('PM_SESSION_MS', { meaning, unit, min: 1, max: 100 }),
    };
    const sentence = 'PM_HEARTBEAT_MS is below PM_SESSION_MS';
    const relations = (config: { heartbeatMs: number; sessionMs: number }) =>
      config.heartbeatMs < config.sessionMs ? [] : [sentence];
    const env = { PM_HEARTBEAT_MS: '9', PM_SESSION_MS: '5' };
    expect(faultOf(() => readConfig(fields, env, { relations })).facts).toEqual({
      relation1: sentence,
    });
    expect(readConfig(fields, { ...env, PM_SESSION_MS: '10' }, { relations }).sessionMs).toBe(10);
  });
});
