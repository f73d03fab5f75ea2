import { createHash } from 'node:crypto';
import { canonicalForm } from '@pm/schemas/avro/canonical-form';
import { toAvroJson } from '@pm/schemas/avro/schema';
import { topics } from '@pm/schemas/log/topics';

describe('the canonical form of a schema', () => {
  test('is that of the specification: full names, no documentation, defaults or other attributes', () => {
    const json = {
      type: 'record',
      namespace: 'exchange',
      name: 'One',
      doc: 'A record.',
      fields: [
        { name: 'id', type: { type: 'fixed', name: 'Id', size: 8, doc: 'x' }, doc: 'y' },
        {
          doc: 'z',
          default: 'A',
          type: { type: 'enum', name: 'Kind', symbols: ['A', 'B'] },
          name: 'kind',
        },
        { name: 'more', type: ['null', { items: { type: 'long' }, type: 'array' }], default: null },
        { name: 'again', type: 'Id' },
        { name: 'other', type: 'elsewhere.Id' },
      ],
    };
    expect(canonicalForm(json)).toBe(
      '{"name":"exchange.One","type":"record","fields":[' +
        '{"name":"id","type":{"name":"exchange.Id","type":"fixed","size":8}},' +
        '{"name":"kind","type":{"name":"exchange.Kind","type":"enum","symbols":["A","B"]}},' +
        '{"name":"more","type":["null",{"type":"array","items":"long"}]},' +
        '{"name":"again","type":"exchange.Id"},' +
        '{"name":"other","type":"elsewhere.Id"}]}',
    );
  });

  test('of a topic differs from that of every other topic, and not by documentation', () => {
    const digests = Object.values(topics).map(({ value }) =>
      createHash('sha256')
        .update(canonicalForm(toAvroJson(value)))
        .digest('hex'),
    );
    expect(new Set(digests).size).toBe(digests.length);
    const json = JSON.parse(JSON.stringify(toAvroJson(topics.orders.value)));
    const without = JSON.parse(
      JSON.stringify(json, (name, value) => (name === 'doc' ? undefined : value)),
    );
    expect(canonicalForm(without)).toBe(canonicalForm(json));
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['a number', 1],
    ['a record without fields', { type: 'record', name: 'A' }],
    ['a record without a name', { type: 'record', fields: [] }],
    ['an array of nothing', { type: 'array' }],
  ])('does not exist for %s', (_, json) => {
    expect(() => canonicalForm(json)).toThrow(expect.objectContaining({ name: 'AvroError' }));
  });
});
