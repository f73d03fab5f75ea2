/** The methods of the paths of a listener: what a request could have meant that matches none of its routes. */
export class RoutePaths {
  readonly #patterns: { readonly parts: readonly string[]; readonly methods: Set<string> }[] = [];
  readonly #byUrl = new Map<string, Set<string>>();

  /** `url` as routes have it, with `:name` for a part of any text. */
  add(method: string, url: string): void {
    const methods = this.#byUrl.get(url) ?? new Set();
    if (methods.size === 0) {
      this.#byUrl.set(url, methods);
      this.#patterns.push({ parts: partsOf(url), methods });
    }
    methods.add(method);
  }

  /** In the order of the alphabet; empty where there is no such path. */
  methodsAt(path: string): readonly string[] {
    const parts = partsOf(path);
    const found = this.#patterns.filter((pattern) => matches(pattern.parts, parts));
    return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
  }
}

/** A slash at the end makes no other path. */
function partsOf(path: string): readonly string[] {
  const parts = path.split('/').slice(1);
  return parts.at(-1) === '' ? parts.slice(0, -1) : parts;
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
  if (pattern.length !== parts.length) return false;
  return pattern.every((part, at) =>
    part.startsWith(':') ? parts[at] !== '' : part === parts[at],
  );
}
