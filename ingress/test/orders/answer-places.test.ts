import { answeredHeader } from '@pm/kit/http';
import { call, type Door, openDoor, signedItem, testOrder } from '../door-fixture.ts';

let door: Door;
beforeEach(async () => {
  door = await openDoor();
});
afterEach(() => door.app.close());

const order = (key: string) => ({ 'idempotency-key': key });

test('an answer of the log names how far it tells, also when it is given again', async () => {
  const body = JSON.stringify({ ...signedItem(testOrder()).item, owner: door.trio.apiKey });
  door.readOffsets.begin(1, 7);
  const placed = await call(door, { method: 'POST', url: '/order', body, headers: order('a') });
  expect([placed.status, placed.headers[answeredHeader]]).toEqual([200, '1:7']);
  door.readOffsets.begin(1, 9);
  const again = await call(door, { method: 'POST', url: '/order', body, headers: order('a') });
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.headers[answeredHeader]).toBe('1:7');
  const repeated = await call(door, { method: 'POST', url: '/order', body });
  expect(repeated.headers[answeredHeader]).toBe('1:9');
});

test('an answer that the log was not asked for names nothing', async () => {
  const refused = await call(door, { method: 'POST', url: '/orders', body: '[]' });
  expect([refused.status, refused.headers[answeredHeader]]).toEqual([400, undefined]);
});
