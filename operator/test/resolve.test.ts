import type { CommandResult } from '@pm/domain/commands/result-waiters';
import { event, market, openOperator } from './operator-fixture.ts';

/** One market of an event, listed. */
async function opened() {
  const operator = await openOperator();
  await operator.post('/operator/catalog', { events: [event('a', [market('x')])] });
  const resolve = (payout0: string) =>
    operator.post('/operator/markets/1/resolve', { payout0 }).then(({ status }) => status);
  return { ...operator, resolve, listed: () => operator.catalog.findMarket(1) };
}

const refused = (code: 'market_resolved' | 'market_not_ready'): CommandResult => ({
  kind: 'executed',
  place: { partition: 0, inOffset: 1 },
  events: [{ index: 0, event: { kind: 'CommandRefused', command: 0, requestId: null, code } }],
});

test('a resolution whose result came too late is completed by the same request, and by no other', async () => {
  const { fakes, resolve, listed } = await opened();
  fakes.answer = () => ({ kind: 'pending' });
  expect(await resolve('1')).toBe(503);
  expect(listed()).toMatchObject({ payout0: -1, askedPayout0: 10_000, closed: false });
  fakes.answer = () => refused('market_resolved');
  expect(await resolve('0')).toBe(409);
  expect(await resolve('1')).toBe(200);
  expect(listed()).toMatchObject({ payout0: 10_000, mode: 'RESOLVED', closed: true });
});

test('a resolution that is surely not carried out leaves the payout open', async () => {
  const { fakes, resolve, listed } = await opened();
  fakes.answer = () => refused('market_not_ready');
  expect(await resolve('1')).toBe(409);
  expect(listed()).toMatchObject({ payout0: -1, askedPayout0: -1 });
});

test('a book that was resolved by none of these is not said to be resolved with what is asked', async () => {
  const { fakes, resolve, listed } = await opened();
  fakes.answer = () => refused('market_resolved');
  expect(await resolve('1')).toBe(409);
  expect(listed()).toMatchObject({ payout0: -1, askedPayout0: -1, mode: 'OPEN' });
});

test('an import before the result of the book loses nothing of the requested resolution', async () => {
  const { fakes, resolve, post, listed } = await opened();
  fakes.answer = () => ({ kind: 'pending' });
  await resolve('0.5');
  await post('/operator/catalog', { events: [event('a', [market('x', { question: 'else?' })])] });
  expect(listed()).toMatchObject({ question: 'else?', askedPayout0: 5_000 });
});
