import { loopback, type Ports } from '@pm/deploy/local/ports';

/** Values of series by their text, at one moment; what did not answer is `up` 0. */
export type Scrape = ReadonlyMap<string, number>;

/** The matcher first: when one that stands still is given up, the others have noticed it. */
const targets = [
  'matcherOps',
  'ingressOps',
  'projectorsOps',
  'queryApiOps',
  'streamsOps',
  'operatorOps',
  'gatewayOps',
] as const satisfies readonly (keyof Ports)[];

/** A process that does not answer for so long is down, milliseconds. */
const answerMaxMs = 3_000;

/** Scrapes every process of an exchange as `deploy/observability/prometheus.yml` does. */
export async function scrape(ports: Ports): Promise<Scrape> {
  const found = new Map<string, number>();
  for (const target of targets) {
    const labels = `job="exchange",instance="${target}"`;
    try {
      const signal = AbortSignal.timeout(answerMaxMs);
      const response = await fetch(`http://${loopback}:${ports[target]}/metrics`, { signal });
      for (const [series, value] of seriesIn(await response.text(), labels)) {
        found.set(series, value);
      }
      found.set(`up{${labels}}`, 1);
    } catch {
      found.set(`up{${labels}}`, 0);
    }
  }
  return found;
}

/** Series of this exchange; those of Node depend on how busy the machine of a test is. */
function* seriesIn(text: string, labels: string): Generator<[string, number]> {
  for (const line of text.split('\n')) {
    const [, name = '', own = '', value = ''] = /^(pm_\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
    if (name === '' || !Number.isFinite(Number(value))) continue;
    yield [`${name}{${own},${labels}}`, Number(value)];
  }
}

/** The greatest value of the series whose text contains every part; -1 without one. */
export function worst(found: Scrape, ...parts: readonly string[]): number {
  const values = [...found].filter(([series]) => parts.every((part) => series.includes(part)));
  return Math.max(-1, ...values.map(([, value]) => value));
}

/**
 * Samples of both scrapes, 15 s apart. The first ones last longer than any rule but `TablesHeld` waits before it fires,
 * the second ones longer than the five minutes for which Prometheus still sees a series that ended.
 */
const samples = { before: 24, during: 28 } as const;
const sampleSeconds = 15;
/** The last moment of each. */
export const lastMoment = {
  before: `${(samples.before - 1) * sampleSeconds}s`,
  during: `${(samples.before + samples.during - 1) * sampleSeconds}s`,
} as const;

/** Both scrapes as series of promtool: six minutes of the first one, then seven of the second. */
export function heldFor(before: Scrape, during: Scrape): Readonly<Record<string, string>> {
  const names = new Set([...before.keys(), ...during.keys()]);
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      `${held(before.get(name), samples.before)} ${held(during.get(name), samples.during)}`,
    ]),
  );
}

function held(value: number | undefined, count: number): string {
  return value === undefined ? `_x${count}` : `${value.toFixed(6)}+0x${count - 1}`;
}
