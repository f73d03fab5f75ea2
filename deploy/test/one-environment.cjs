// The environment of a Jest worker: suites share its globals, so that they can share modules (shared-modules.cjs).
// `@jest-environment node` at the top of a suite gives it globals and modules of its own.
const { TestEnvironment } = require('jest-environment-node');

/** Times the limits that suites state, for slow machines and busy ones: limits only end what hangs. */
const patience = 4;

class OneEnvironment extends TestEnvironment {
  #extended = new WeakSet();

  /** Runtime of what suites share; the first of them opens it. */
  sharedModules = null;

  handleTestEvent({ name, hook, test }, { testTimeout }) {
    if (name === 'hook_start') this.#extend(hook, testTimeout);
    if (name === 'test_fn_start') this.#extend(test, testTimeout);
  }

  /** A hook is run several times. */
  #extend(one, testTimeout) {
    if (this.#extended.has(one)) return;
    this.#extended.add(one);
    one.timeout = patience * (one.timeout || testTimeout);
  }

  /** A suite that failed may have left its timers faked. */
  async teardown() {
    this.fakeTimersModern.useRealTimers();
  }
}

/** Where jest-circus keeps what it calls at each event: in the globals, so that of earlier suites too. */
const eventHandlers = Symbol.for('EVENT_HANDLERS');

let environment;

/** Jest constructs one for each suite. */
module.exports = function environmentOfWorker(config, context) {
  environment ??= new OneEnvironment(config, context);
  delete environment.global[eventHandlers];
  return environment;
};
