import { loopback } from '../local/ports.ts';

/** Metric lines of a service: `name{labels}` and the value. */
export type Counters = readonly { readonly name: string; readonly value: number }[];

const metricLine = /^([a-zA-Z_:][\w:]*)(?:\{.*\})? ([-+0-9.eE]+)$/;

/** The metrics of the service whose operator's listener is on `port`; none while it does not respond. */
export async function readCounters(port: number): Promise<Counters> {
  try {
    const response = await fetch(`http://${loopback}:${port}/metrics`, {
      signal: AbortSignal.timeout(1_000),
    });
    return (await response.text()).split('\n').flatMap((line) => {
      const match = metricLine.exec(line);
      return match === null ? [] : [{ name: match[1] ?? '', value: Number(match[2]) }];
    });
  } catch {
    return [];
  }
}

/** Sum over all labels. */
export function counterSum(counters: Counters, name: string): number {
  return counters.reduce((sum, one) => (one.name === name ? sum + one.value : sum), 0);
}
