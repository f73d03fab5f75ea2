/** Where jest-circus keeps what it calls at each event. */
const places = globalThis as unknown as Record<symbol, readonly (() => void)[]>;

test('events of a suite are not handled for the suites that ran before it in the same process', () => {
  const handlers = places[Symbol.for('EVENT_HANDLERS')] ?? [];
  const ofEnvironment = handlers.filter(({ name }) => name === 'bound handleTestEvent');
  expect(ofEnvironment).toHaveLength(1);
});
