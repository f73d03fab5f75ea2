import { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import type { CatalogEntry, CatalogTag } from '@pm/schemas/log/catalog';
import { MemoryTopic } from '../../../ingress/test/table-fixture.ts';
import { CatalogWriter } from '../../src/catalog/catalog-writer.io.ts';
import { newTag } from '../../src/catalog/change-draft.ts';

function opened() {
  const catalog = new CatalogIndex();
  const topic = new MemoryTopic<CatalogEntry>();
  const table = topic.open({ apply: (entry) => catalog.take(entry) });
  const store = new CatalogWriter({
    producer: { send: async () => [] },
    table,
    topics: { routing: 'routing', transfers: 'transfers' },
    codecs: {
      routing: { encode: () => Buffer.alloc(0) },
      transfers: { encode: () => Buffer.alloc(0) },
    },
  });
  return { catalog, store, topic };
}

const tag = (label: string): CatalogTag => newTag('1', label, 0);

test('what was written counts at once, and older entries that are read back do not undo it', async () => {
  const { catalog, store, topic } = opened();
  const seen: (string | undefined)[] = [];
  await store.writeEntries([tag('first')]);
  topic.isHeldUp = true;
  await store.writeEntries([tag('second')]);
  seen.push(catalog.findTagById('1')?.label);
  // The first entry comes by, the second one has not been read yet.
  const behind = topic.records.splice(1);
  topic.goOn();
  seen.push(catalog.findTagById('1')?.label);
  topic.records.push(...behind);
  topic.goOn();
  seen.push(catalog.findTagById('1')?.label);
  expect(seen).toEqual(['second', 'second', 'second']);
});

test('entries go out in the order in which they refer to each other, however many', async () => {
  const { catalog, store, topic } = opened();
  const entries = Array.from({ length: 120 }, (_, at) => newTag(String(at + 1), `tag ${at}`, 0));
  await store.writeEntries(entries);
  expect(topic.records.map(({ value }) => value)).toEqual(entries);
  expect(catalog.findTagById('120')).toMatchObject({ label: 'tag 119' });
});
