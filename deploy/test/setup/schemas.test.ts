import { Fault } from '@pm/kit/fault';
import { type Registry, Schemas } from '@pm/kit/registry';
import { ownListings, ownSchemas } from '../../../kit/test/registry/own-schemas.ts';
import { type SchemaSetup, setUpSchemas } from '../../src/setup/schemas.ts';

const said: string[] = [];
const away = () => Promise.reject(new Fault('registry_unavailable', 'retry'));

/** Set-up of a log that lists these schemas; it writes nothing in these cases. */
function setUp(schemas: Schemas, registry: Partial<Registry>): Promise<void> {
  said.length = 0;
  const none = { restore: async () => 0, register: async () => [] };
  const progress = (line: string) => said.push(line);
  return setUpSchemas({
    schemas,
    registry: { ...none, ...registry },
    progress,
  } as Partial<SchemaSetup> as SchemaSetup);
}

test('a registry that is away does not keep an exchange down whose schemas are listed', async () => {
  await setUp(ownSchemas(), { restore: away });
  expect(said).toEqual([
    'registry: other programs cannot read records by it: registry_unavailable',
  ]);
});

test('schemas that are not listed yet need the registry', async () => {
  const failed = { code: 'registry_unavailable' };
  await expect(setUp(new Schemas(), { register: away })).rejects.toMatchObject(failed);
});

test('a registry that gives a listed schema another id is that of another installation', async () => {
  const register = async () => ownListings.map((one) => ({ ...one, schemaId: one.schemaId + 100 }));
  await setUp(ownSchemas(), { restore: async () => 1, register });
  expect(said).toEqual([expect.stringContaining('registry_foreign (topic=orders, schemaId=101)')]);
});

test('a new schema is not listed under an id that stands for another one', async () => {
  const [first, ...others] = ownListings;
  const schemas = new Schemas();
  for (const one of others) schemas.learn(one);
  const [taken] = others;
  if (first === undefined || taken === undefined) throw new Error('two topics');
  const register = async () => [{ ...first, schemaId: taken.schemaId }];
  await expect(setUp(schemas, { register })).rejects.toMatchObject({ code: 'registry_foreign' });
});
