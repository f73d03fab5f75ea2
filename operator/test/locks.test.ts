import { setImmediate as nextTurn } from 'node:timers/promises';
import { silentLog } from '@pm/kit/log';
import { TickRefinements } from '../src/catalog/tick-refinements.io.ts';
import { carriedOut, event, market, openOperator } from './operator-fixture.ts';

type Operator = Awaited<ReturnType<typeof opened>>;

/** Two markets of an event, listed. */
async function opened() {
  const operator = await openOperator();
  await operator.post('/operator/catalog', { events: [event('a', [market('x'), market('y')])] });
  operator.sent.length = 0;
  operator.written.length = 0;
  return operator;
}

/** Holds what the matcher is asked until it is let go. */
function holdBooks({ fakes }: Operator) {
  let letGo = () => {};
  const open = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  fakes.answer = async (command) => {
    await open;
    return carriedOut(command);
  };
  return letGo;
}

/** All of it is under way before the matcher answers anything; where it were not, the tests would only show less. */
async function together(operator: Operator, asks: readonly (() => Promise<unknown>)[]) {
  const letGo = holdBooks(operator);
  const answers = asks.map((ask) => ask());
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  letGo();
  return await Promise.all(answers);
}

const halt = (operator: Operator) => operator.post('/operator/markets/1/mode', { mode: 'HALTED' });
const charge = (operator: Operator) => operator.put('/operator/markets/1/rules', { feeRateBps: 7 });
const delay = (operator: Operator) =>
  operator.put('/operator/markets/1/rules', { takerDelayMs: 250 });
const describeIt = (operator: Operator) =>
  operator.patch('/operator/markets/1', { description: 'As the station says.' });
const imported = (operator: Operator) =>
  operator.post('/operator/catalog', {
    events: [event('a', [market('x', { rewardsDailyRate: 3, minOrderSize: '1' })])],
  });
const refine = async (operator: Operator) => {
  const refining = new TickRefinements(operator.services.catalog, silentLog);
  refining.note(1);
  await refining.settled();
};

const halted = { mode: 'HALTED' };
const charged = { feeRateBps: 7 };
const delayed = { takerDelayMs: 250 };
const described = { description: 'As the station says.' };
const rewarded = { rewardsDailyMicro: 3_000_000, minSizeMicro: 1_000_000 };
const finer = { tick: 10 };

describe('changes of one market that come together are all done', () => {
  it.each([
    ['a halt, then rules', [halt, charge], { ...halted, ...charged }],
    ['rules, then a halt', [charge, halt], { ...halted, ...charged }],
    ['rules, then rules', [charge, delay], { ...charged, ...delayed }],
    ['rules, then words', [charge, describeIt], { ...charged, ...described }],
    ['words, then a halt', [describeIt, halt], { ...described, ...halted }],
    ['an import, then a halt', [imported, halt], { ...rewarded, ...halted }],
    ['a halt, then an import', [halt, imported], { ...rewarded, ...halted }],
    ['a finer tick, then a halt', [refine, halt], { ...finer, ...halted }],
    ['rules, then a finer tick', [charge, refine], { ...charged, ...finer }],
  ])('%s', async (_what, asks, expected) => {
    const operator = await opened();
    await together(
      operator,
      asks.map((ask) => () => ask(operator)),
    );
    const listed = operator.catalog.findMarket(1);
    expect(listed).toMatchObject(expected);
    const rules = operator.sent.flatMap(({ command }) =>
      command.kind === 'SetMarket' && !command.tickOnly ? command : [],
    );
    const { mode, feeRateBps, takerDelayMs } = listed ?? {};
    expect(rules.at(-1)).toMatchObject({ mode, feeRateBps, takerDelayMs });
  });
});

test('a halt waits for no import, and for no other market', async () => {
  const operator = await opened();
  const letGo = holdBooks(operator);
  const waiting = [
    operator.post('/operator/catalog', { events: [event('b', [market('z')])] }),
    operator.put('/operator/markets/2/rules', { feeRateBps: 7 }),
  ];
  while (operator.sent.length < 2) await nextTurn();
  operator.fakes.answer = carriedOut;
  expect((await halt(operator)).status).toBe(200);
  expect(operator.catalog.findMarket(1)).toMatchObject(halted);
  letGo();
  await Promise.all(waiting);
});

test('a market is listed in the event of its number, whatever that is called by then', async () => {
  const operator = await opened();
  const another = () => operator.post('/operator/catalog', { events: [event('b', [market('z')])] });
  const rename = () => operator.patch('/operator/events/1', { slug: 'renamed', title: 'Renamed' });
  const list = () => operator.post('/operator/events/1/markets', market('w'));
  await together(operator, [another, rename, list]);
  expect(operator.catalog.findEventBySlug('a')).toBeUndefined();
  expect(operator.catalog.findMarketBySlug('w')).toMatchObject({ eventId: '1' });
  expect(operator.catalog.findEvent('1')).toMatchObject({ title: 'Renamed' });
});

describe('an event', () => {
  const resolve = (operator: Operator, id: number) =>
    operator.post(`/operator/markets/${id}/resolve`, { payout0: '1' });

  it('closes with its last two markets when they are resolved together', async () => {
    const operator = await opened();
    await together(operator, [() => resolve(operator, 1), () => resolve(operator, 2)]);
    expect(operator.catalog.findEvent('1')?.closed).toBe(true);
  });

  /** Both markets are resolved, but the event was not closed with them. */
  const leftOpen = async () => {
    const operator = await opened();
    await resolve(operator, 1);
    await resolve(operator, 2);
    const closed = operator.catalog.findEvent('1');
    if (closed !== undefined) operator.catalog.take({ ...closed, closed: false });
    operator.sent.length = 0;
    return operator;
  };

  it('that stayed open behind its markets closes when a resolution is repeated', async () => {
    const operator = await leftOpen();
    expect((await resolve(operator, 1)).status).toBe(200);
    expect(operator.catalog.findEvent('1')?.closed).toBe(true);
    expect(operator.sent).toEqual([]);
  });

  it('keeps its new words when it closes at the same time', async () => {
    const operator = await leftOpen();
    const rename = () => operator.patch('/operator/events/1', { title: 'Renamed' });
    await together(operator, [() => resolve(operator, 1), rename]);
    expect(operator.catalog.findEvent('1')).toMatchObject({ closed: true, title: 'Renamed' });
  });
});

describe('rules that are so already', () => {
  const at = '/operator/markets/1/rules';

  it('are not written again', async () => {
    const operator = await opened();
    const first = await operator.put(at, { feeRateBps: 7 });
    const again = await operator.put(at, { feeRateBps: 7 });
    expect([first.body.changed, again.body.changed]).toEqual([true, false]);
    expect(again.body).toMatchObject({ id: '1', feeRateBps: 7 });
    expect(operator.written).toHaveLength(1);
  });

  it('are told to the book, which may have taken others from a request without an answer', async () => {
    const operator = await opened();
    operator.fakes.answer = () => ({ kind: 'pending' });
    expect((await operator.put(at, { feeRateBps: 7 })).status).toBe(503);
    operator.fakes.answer = carriedOut;
    expect((await operator.put(at, { feeRateBps: 0 })).body).toMatchObject({ changed: false });
    expect(operator.sent.at(-1)).toMatchObject({ command: { feeRateBps: 0 } });
  });

  it('are not even told to the book when none are named', async () => {
    const operator = await opened();
    const { status, body } = await operator.put(at, {});
    expect([status, body]).toMatchObject([200, { id: '1', feeRateBps: 0, changed: false }]);
    expect([operator.sent, operator.written]).toEqual([[], []]);
  });
});
