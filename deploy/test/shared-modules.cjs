// Jest's runtime, without what costs most: it loads all modules again for each suite, and follows every promise.
// Packages, sources and Jest's own modules are loaded once in a worker here; suites, what they import from folders `test`
// and what runs a suite stay apart.
const { default: Runtime } = require('jest-runtime');

/** A path within the repository. */
const ofSuites = /^(?!.*node_modules).*[/\\]test[/\\]/;
/** Modules with the state of the suite that runs. */
const ofRunner = /[/\\]node_modules[/\\]jest-circus[/\\]/;

/**
 * Stands in for the storage in which Jest keeps the test that a promise belongs to. With a real one each `await` takes
 * three times as long on Node 20, and more after every suite, because Jest disables none. Without, an unhandled
 * rejection fails its suite, whichever test it is of.
 */
class NoStorage {
  run(_store, callback) {
    return callback();
  }

  getStore() {
    return undefined;
  }
}

module.exports = class extends Runtime {
  #shared = null;

  constructor(...args) {
    super(...args);
    const [, environment] = args;
    if (environment.sharedModules === undefined) return;
    // Never torn down: what it has loaded may import more at any time.
    environment.sharedModules ??= new Runtime(...args);
    this.#shared = environment.sharedModules;
    // Stacks name the sources of both.
    this.transformCache.sourceMaps = this.#shared.getSourceMaps();
  }

  requireModule(from, name, options, ...more) {
    const isOfJest = options?.isInternalModule === true;
    if (isOfJest && name === 'node:async_hooks') return { AsyncLocalStorage: NoStorage };
    if (this.#shared === null || this.#isOfSuite(from, name, isOfJest))
      return super.requireModule(from, name, options, ...more);
    return this.#shared.requireModule(from, name, options, ...more);
  }

  #isOfSuite(from, name, isOfJest) {
    if (name !== undefined && this._resolution.isCoreModule(name)) return true;
    const path = name === undefined ? from : this._resolution.resolveCjs(from, name);
    if (isOfJest) return ofRunner.test(path);
    return ofSuites.test(path.slice(this._config.rootDir.length));
  }
};
