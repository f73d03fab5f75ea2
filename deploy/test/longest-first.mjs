// Order of the suites of a run. The longest begin first, so that no worker is left alone with one of them at the end, and
// those with many processes are apart, since a run has two workers. The order is the same on every machine.

/** Suites that take longest, by `npm test`, which prints them. */
const longest = [
  // Collects garbage a hundred times, which is fast in a worker that has loaded little.
  'streams/test/kept-bytes',
  'operate/test/rebuild/rebuild.engine',
  'acceptance/test/clocks/clocks.engine',
  'acceptance/test/scale/side-by-side.engine',
  'acceptance/test/observability/alerts.engine',
  'acceptance/test/faults/faults.engine',
  'acceptance/test/streams/kills.engine',
  'acceptance/test/keys/key-secret.engine',
  'acceptance/test/brokers/changed-leaders.engine',
  'operate/test/audit/audit.engine',
  'acceptance/test/secured/accounts.engine',
  'acceptance/test/orders/same-orders.engine',
  'acceptance/test/keys/rotations.engine',
  'acceptance/test/attacks/unfunded.engine',
  'acceptance/test/secured/smoke.engine',
  'acceptance/test/operators/challenges.engine',
  'acceptance/',
  'simulator/test/simulation',
  'simulator/test/many-faults',
  'kit/test/kafka/net/defects',
];

function placeOf({ path }) {
  const place = longest.findIndex((part) => path.includes(`/${part}`));
  return place === -1 ? longest.length : place;
}

// biome-ignore lint/style/noDefaultExport: asked for by Jest's testSequencer
export default class LongestFirst {
  sort(tests) {
    const size = new Map(tests.map((test) => [test, test.context.hasteFS.getSize(test.path) ?? 0]));
    return [...tests].sort(
      (one, other) =>
        placeOf(one) - placeOf(other) ||
        size.get(other) - size.get(one) ||
        one.path.localeCompare(other.path),
    );
  }

  allFailedTests(tests) {
    return tests;
  }

  shard(tests) {
    return tests;
  }

  cacheResults() {}
}
