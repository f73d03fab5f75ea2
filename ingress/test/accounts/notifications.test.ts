import { AccountTopics } from '../accounts-fixture.ts';
import { call, type IngressUnderTest, openIngress } from '../ingress-fixture.ts';
import { OwnersTopic } from '../owners-fixture.ts';

let ingress: IngressUnderTest;
let accounts: AccountTopics;

beforeEach(async () => {
  accounts = new AccountTopics();
  ingress = await openIngress(new OwnersTopic(), 0, undefined, accounts);
});
afterEach(() => ingress.app.close());

const remove = (query: string) =>
  call(ingress, { method: 'DELETE', url: `/notifications${query}` });

describe('DELETE /notifications', () => {
  it('remembers the ids on the log, each once, and answers them', async () => {
    expect(await remove('?ids=1,2')).toMatchObject({ status: 200, body: { deleted: ['1', '2'] } });
    expect((await remove('?ids=2&ids=3')).body).toEqual({ deleted: ['2', '3'] });
    const { records } = accounts.notificationMarks;
    expect(records.map(({ value }) => value?.deleted)).toEqual([
      [1, 2],
      [1, 2, 3],
    ]);
  });

  it.each(['', '?ids=', '?ids=x', '?ids=1,-2', '?ids=1e3', `?ids=${'1,'.repeat(101)}`])(
    'refuses %s',
    async (query) => {
      expect(await remove(query)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      });
    },
  );
});
