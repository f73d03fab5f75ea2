import { remarks, writeRemarks } from '../../src/demo/remarks.ts';

test('each remark has an author and an id of its own, the same in every run', async () => {
  const written: string[] = [];
  const accounts = remarks.map((_, account) => ({
    comment: async (remark: { readonly id: string; readonly eventId: string }) =>
      void written.push(`${account} ${remark.eventId} ${remark.id}`),
  }));
  await writeRemarks(accounts, '326');
  const once = [...written];
  expect(new Set(once).size).toBe(remarks.length);
  await writeRemarks(accounts, '326');
  expect(written).toEqual([...once, ...once]);
});
