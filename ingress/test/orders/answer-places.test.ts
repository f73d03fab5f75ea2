import { answeredHeader } from '@pm/kit/http';
import {
  call,
  type IngressUnderTest,
  openIngress,
  signedItem,
  testOrder,
} from '../ingress-fixture.ts';

let ingress: IngressUnderTest;
beforeEach(async () => {
  ingress = await openIngress();
});
afterEach(() => ingress.app.close());

const order = (key: string) => ({ 'idempotency-key': key });

test('an answer of the log names how far it tells, also when it is given again', async () => {
  const body = JSON.stringify({ ...signedItem(testOrder()).item, owner: ingress.trio.apiKey });
  ingress.readOffsets.begin(1, 7);
  const placed = await call(ingress, { method: 'POST', url: '/order', body, headers: order('a') });
  expect([placed.status, placed.headers[answeredHeader]]).toEqual([200, '1:7']);
  ingress.readOffsets.begin(1, 9);
  const again = await call(ingress, { method: 'POST', url: '/order', body, headers: order('a') });
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.headers[answeredHeader]).toBe('1:7');
  const repeated = await call(ingress, { method: 'POST', url: '/order', body });
  expect(repeated.headers[answeredHeader]).toBe('1:9');
});

test('an answer that the log was not asked for names nothing', async () => {
  const refused = await call(ingress, { method: 'POST', url: '/orders', body: '[]' });
  expect([refused.status, refused.headers[answeredHeader]]).toEqual([400, undefined]);
});
