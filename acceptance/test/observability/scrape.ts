import { loopback, type Ports } from '@pm/deploy/local/ports';

/** Values of series by their text, at one moment; what did not answer is `up` 0. */
export type Scrape = ReadonlyMap<string, number>;

const targets = [
  'ingressOps',
  'matcherOps',
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

/** Both scrapes as series of promtool: ten minutes of the first one, then twenty of the second. */
export function heldFor(before: Scrape, during: Scrape): Readonly<Record<string, string>> {
  const names = new Set([...before.keys(), ...during.keys()]);
  return Object.fromEntries(
    [...names].map((name) => [name, `${held(before.get(name), 40)} ${held(during.get(name), 80)}`]),
  );
}

function held(value: number | undefined, samples: number): string {
  return value === undefined ? `_x${samples}` : `${value.toFixed(6)}+0x${samples - 1}`;
}
