import { lagText } from '../../src/panel/behind.ts';

test('says how far each projection is behind, in all partitions', () => {
  const tables = { projection: 'tables', known: true, partitions: [{ lag: 400 }, { lag: 73 }] };
  const books = { projection: 'books', known: true, partitions: [{ lag: 0 }] };
  expect(lagText([tables, books])).toBe('records behind: tables 473, books 0');
});

test('says of what is not known that it is not', () => {
  const ledger = { projection: 'ledger', known: false, partitions: [] };
  expect(lagText([ledger])).toBe('records behind: ledger ?');
  expect(lagText([])).toBe('records behind: ?');
});
