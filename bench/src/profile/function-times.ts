import { type Profile, selfMicroseconds } from '../report/profile.ts';

/** Time of a function on the processor, milliseconds. */
export interface FunctionTime {
  readonly name: string;
  /** In its own code. */
  readonly selfMs: number;
  /** And in everything that it called; once where it calls itself. */
  readonly inclusiveMs: number;
}

export interface ProfileTimes {
  readonly functions: readonly FunctionTime[];
  /** On the processor, of `allMs`. */
  readonly busyMs: number;
  readonly allMs: number;
}

type Node = Profile['nodes'][number];

/** Frames of the profiler that stand for waiting, or for the tree as a whole. */
const waiting = new Set(['(idle)', '(program)']);
const root = '(root)';

/** Self and inclusive time of each function. */
export function functionTimes(profile: Profile): ProfileTimes {
  const walk = new Walk(profile);
  const [first] = profile.nodes;
  if (first !== undefined) walk.visit(first);
  return walk.times();
}

/** Walks the tree of calls once, from callers to what they call. */
class Walk {
  /** Microseconds. */
  readonly #self: ReadonlyMap<number, number>;
  readonly #nodes: ReadonlyMap<number, Node>;
  readonly #sums = new Map<string, { selfMs: number; inclusiveMs: number }>();
  /** How often each function is among the callers. */
  readonly #callers = new Map<string, number>();

  constructor(profile: Profile) {
    this.#self = selfMicroseconds(profile);
    this.#nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  }

  /** @returns the time of the node and of all that it called. */
  visit(node: Node): number {
    const name = frameName(node);
    const depth = this.#callers.get(name) ?? 0;
    this.#callers.set(name, depth + 1);
    const selfMs = (this.#self.get(node.id) ?? 0) / 1_000;
    let inclusiveMs = selfMs;
    for (const id of node.children ?? []) {
      const called = this.#nodes.get(id);
      if (called !== undefined) inclusiveMs += this.visit(called);
    }
    this.#callers.set(name, depth);
    const sum = this.#sums.get(name) ?? { selfMs: 0, inclusiveMs: 0 };
    sum.selfMs += selfMs;
    if (depth === 0) sum.inclusiveMs += inclusiveMs;
    this.#sums.set(name, sum);
    return inclusiveMs;
  }

  times(): ProfileTimes {
    const all = [...this.#sums].map(([name, times]) => ({ name, ...times }));
    const functions = all.filter(({ name }) => !waiting.has(name) && name !== root);
    const selfOf = (some: readonly FunctionTime[]) =>
      some.reduce((sum, { selfMs }) => sum + selfMs, 0);
    return { functions, busyMs: selfOf(functions), allMs: selfOf(all) };
  }
}

/** "decode record-codec.js:41 (registry/dist)" is short enough for a table, and names one place. */
function frameName({ callFrame: { functionName, url, lineNumber } }: Node): string {
  const name = functionName || 'anonymous';
  if (url === '') return name;
  return `${name} (${url.split('/').slice(-3).join('/')}:${lineNumber + 1})`;
}

/** The largest first. */
export function topFunctions(
  { functions }: ProfileTimes,
  by: 'selfMs' | 'inclusiveMs',
  count: number,
): readonly FunctionTime[] {
  return functions.toSorted((a, b) => b[by] - a[by]).slice(0, count);
}
