import { remarks, writeRemarks } from '../../src/demo/remarks.ts';

test('each remark has an author and an id of its own, the same in every run', async () => {
  const written: string[] = [];
  const accounts = remarks.map((_, account) => ({
    comment: async (remark: { readonly id: string; readonly eventId: string }) =>
      void written.push(`${account} ${remark.eventId} ${remark.id}`),
  }));
  const writeAll = async () => {
    for (const slug of new Set(remarks.map(({ event }) => event))) {
      await writeRemarks(accounts, { id: `of ${slug}`, slug });
    }
  };
  await writeAll();
  const once = [...written];
  expect(new Set(once).size).toBe(remarks.length);
  await writeAll();
  expect(written).toEqual([...once, ...once]);
});
