import { event, market, openOperator } from '../operator-fixture.ts';

/** An event with one market, which the tests below change or list beside. */
async function opened() {
  const operator = await openOperator();
  await operator.post('/operator/catalog', { events: [event('a', [market('a-1')])] });
  operator.written.length = 0;
  operator.sent.length = 0;
  return operator;
}

describe('dates', () => {
  it('are of UTC whatever zone they name, and where they name none', async () => {
    const operator = await opened();
    const change = { startDate: '2027-01-01T02:00:00+02:00', endDate: '2027-03-01T12:30:00' };
    await operator.patch('/operator/markets/1', change);
    expect(operator.catalog.findMarket(1)).toMatchObject({
      startDateMs: Date.UTC(2027, 0, 1),
      endDateMs: Date.UTC(2027, 2, 1, 12, 30),
    });
  });

  it.each(['2027-02-30', '2027-02-29T00:00:00Z', '2027-01-01T24:00Z', '2027-13-01', ''])(
    'are refused where there is no such day or time: %j',
    async (endDate) => {
      const operator = await opened();
      const listing = { events: [event('b', [market('b-1', { endDate })])] };
      const answers = [
        await operator.post('/operator/catalog', listing),
        await operator.post('/operator/events', { slug: 'c', title: 'C', endDate }),
        await operator.patch('/operator/events/1', { endDate }),
        await operator.patch('/operator/markets/1', { endDate }),
      ];
      expect(answers.map(({ status, body }) => [status, body.path])).toEqual([
        [400, '/events/0/markets/0/endDate'],
        [400, '/endDate'],
        [400, '/endDate'],
        [400, '/endDate'],
      ]);
      expect([operator.written, operator.sent]).toEqual([[], []]);
    },
  );
});
