import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImportEvent, ImportResult } from '@pm/schemas/http/operator';
import { eventsOfFile, importCatalog, progressLine } from '../../src/stack/catalog-file.ts';
import { OperatorRefusal } from '../../src/stack/operator.ts';

const folder = mkdtempSync(join(tmpdir(), 'pm-catalog-'));
const events = Array.from(
  { length: 90 },
  (_, index): ImportEvent => ({
    slug: `event-${index}`,
    title: `Event ${index}`,
    markets: [{ slug: `market-${index}`, question: 'Will it?' }],
  }),
);

function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

async function all(file: string): Promise<ImportEvent[]> {
  const found: ImportEvent[] = [];
  for await (const event of eventsOfFile(file)) found.push(event);
  return found;
}

test('a file of lines and a document give the same events', async () => {
  const lines = events.map((event) => JSON.stringify(event)).join('\r\n');
  expect(await all(fileOf('a.ndjson', `${lines}\n\n`))).toEqual(events);
  expect(await all(fileOf('a.json', JSON.stringify({ events })))).toEqual(events);
});

test('the line that is no JSON is named', async () => {
  const file = fileOf('b.ndjson', `${JSON.stringify(events[0])}\n{"slug":\n`);
  await expect(all(file)).rejects.toThrow(`line 2 of ${file} is no JSON`);
  await expect(all(fileOf('c.json', '[]'))).rejects.toThrow('list of events');
});

test('events are sent in pages, one after the other, with a line for each', async () => {
  const pages: number[] = [];
  let isBusy = false;
  const operator = {
    importEvents: async (page: readonly ImportEvent[]): Promise<ImportResult> => {
      expect(isBusy).toBe(false);
      isBusy = true;
      await new Promise((resolve) => setImmediate(resolve));
      isBusy = false;
      pages.push(page.length);
      const markets = page.map(({ slug }, index) => ({
        slug,
        id: String(index),
        conditionId: '0x',
        tokenIds: [],
        partition: 0,
      }));
      return { created: page.length, updated: 0, unchanged: 0, markets };
    },
  };
  const lines: string[] = [];
  const totals = await importCatalog(operator, events, (sofar) =>
    lines.push(progressLine(sofar, 1)),
  );
  expect(pages).toEqual([40, 40, 10]);
  expect(totals).toMatchObject({ events: 90, created: 90 });
  expect(lines[1]).toBe('80 events, 80 markets (80 new, 0 changed, 0 unchanged), 80 markets/s');
});

describe('an event that is refused', () => {
  const nothing: ImportResult = { created: 0, updated: 0, unchanged: 0, markets: [] };
  const refusing = (answer: string) => ({
    importEvents: async (page: readonly ImportEvent[]) => {
      if (page[0]?.slug !== 'event-40') return nothing;
      throw new OperatorRefusal('http://operator answered 400', answer);
    },
  });

  it('is named as the file counts it, not as its page does', async () => {
    const answer = '{"error":"/events/3/title is empty","path":"/events/3/title"}';
    await expect(importCatalog(refusing(answer), events, () => {})).rejects.toThrow(
      'event 43 (event-43) is refused: {"error":"/events/43/title is empty","path":"/events/43/title"}',
    );
  });

  it('is said with what is imported where the catalog is full', async () => {
    const error = 'slug market-43: the catalog has 30000 markets';
    const answer = JSON.stringify({ error, path: 'slug market-43', code: 'catalog_full' });
    await expect(importCatalog(refusing(answer), events, () => {})).rejects.toThrow(
      `40 events are imported, the next ones are refused: catalog_full: ${error}`,
    );
  });

  it('is reported unchanged where the response names no place', async () => {
    const answer = '{"error":"slug market-43: try again"}';
    await expect(importCatalog(refusing(answer), events, () => {})).rejects.toThrow(
      `http://operator answered 400: ${answer}`,
    );
  });
});
