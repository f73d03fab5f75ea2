import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/** A place in a bundle, as a stack has it: its file, its line, its column. */
const bundled = /(file:\/\/[^\s()]+\.mjs):(\d+):(\d+)/g;

/**
 * Names places of bundles by their sources. Maps are read when the first stack is logged: with Node's own
 * `--enable-source-maps` each start reads them, and the first socket error of a process stops it while they are parsed.
 */
export class SourcePlaces {
  /** Maps that were read, by bundle; null for a bundle without one. */
  readonly #maps = new Map<string, SourceMap | null>();

  /** The stack with the sources of its places, as far as there are maps. */
  inStack(stack: string): string {
    return stack.replace(bundled, (place, file: string, line: string, column: string) => {
      const entry = this.#mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
      if (entry === undefined || !('originalSource' in entry)) return place;
      const source = fileURLToPath(new URL(entry.originalSource, file));
      return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    });
  }

  #mapOf(bundle: string): SourceMap | null {
    const known = this.#maps.get(bundle);
    if (known !== undefined) return known;
    const map = readMap(bundle);
    this.#maps.set(bundle, map);
    return map;
  }
}

function readMap(bundle: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${bundle}.map`), 'utf8')));
  } catch {
    return null;
  }
}
