import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of a V8 CPU profile that are read here. */
export interface Profile {
  /** Microseconds of the machine's monotonic clock, which is the one of `process.hrtime`. */
  readonly startTime: number;
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    /** From 0. */
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

export interface ProfileGroup {
  readonly name: string;
  /** Share of all time on the processor. */
  readonly share: number;
  readonly seconds: number;
}

/** Where the processor's time went, the largest share first. */
export interface ProfileShares {
  readonly groups: readonly ProfileGroup[];
  readonly functions: readonly ProfileGroup[];
}

/** Where a frame belongs, the first that fits; frames that fit nowhere belong where their caller does. */
export type ProfileRules = readonly (readonly [name: string, url: RegExp, frame?: RegExp])[];

const notOnCpu = new Set(['(idle)', '(program)']);

/** A piece of the machine's monotonic clock, microseconds. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

const allTime: Window = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

export function monotonicMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** `CPU.<day>.<time>.<process>.<thread>.<number>.cpuprofile`; the first thread of a process is 0. */
const ofFirstThread = /\.0\.\d+\.cpuprofile$/;

/**
 * Reads the newest profile of a first thread in a folder and sums the self time in a window by group, the largest
 * first. Throws when there is none, or none of that time.
 */
export function groupsOfProfile(
  folder: string,
  window: Window,
  rules: ProfileRules,
): ProfileShares {
  const file = readdirSync(folder)
    .filter((name) => ofFirstThread.test(name))
    .sort()
    .at(-1);
  if (file === undefined) throw new Error(`no profile in ${folder}`);
  const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
  const self = selfMicroseconds(profile, window);
  if (self.size === 0) throw new Error(`${file} has no sample of the window`);
  const groupOf = groupsByNode(profile, rules);
  const byGroup = new Map<string, number>();
  const byFunction = new Map<string, number>();
  for (const node of profile.nodes) {
    const { functionName, url } = node.callFrame;
    if (notOnCpu.has(functionName)) continue;
    const time = self.get(node.id) ?? 0;
    add(byGroup, groupOf.get(node.id) ?? 'other', time);
    add(byFunction, `${functionName || 'anonymous'} (${url.split('/').slice(-3).join('/')})`, time);
  }
  return { groups: sortedShares(byGroup), functions: sortedShares(byFunction).slice(0, 20) };
}

function add(sums: Map<string, number>, name: string, time: number): void {
  sums.set(name, (sums.get(name) ?? 0) + time);
}

/** Own time of each node, by its id; of the whole profile unless a window is given. */
export function selfMicroseconds(profile: Profile, window = allTime): Map<number, number> {
  const self = new Map<number, number>();
  let at = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const delta = profile.timeDeltas[index] ?? 0;
    at += delta;
    if (at < window.from || at > window.to) continue;
    self.set(id, (self.get(id) ?? 0) + delta);
  }
  return self;
}

function groupsByNode({ nodes }: Profile, rules: ProfileRules): Map<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const groups = new Map<number, string>();
  const visit: { id: number; from: string }[] = [
    { id: nodes[0]?.id ?? 0, from: 'runtime and start' },
  ];
  for (let next = visit.pop(); next !== undefined; next = visit.pop()) {
    const node = byId.get(next.id);
    if (node === undefined) continue;
    const group = ownGroup(node, rules) ?? next.from;
    groups.set(node.id, group);
    for (const id of node.children ?? []) visit.push({ id, from: group });
  }
  return groups;
}

function ownGroup(
  { callFrame: { functionName, url } }: ProfileNode,
  rules: ProfileRules,
): string | undefined {
  if (functionName === '(garbage collector)') return 'garbage collector';
  return rules.find(([, place, frame]) => {
    return place.test(url) && (frame === undefined || frame.test(functionName));
  })?.[0];
}

function sortedShares(sums: ReadonlyMap<string, number>): ProfileGroup[] {
  const total = [...sums.values()].reduce((sum, time) => sum + time, 0);
  return [...sums]
    .map(([name, time]) => ({ name, share: time / total, seconds: time / 1e6 }))
    .sort((a, b) => b.share - a.share);
}
