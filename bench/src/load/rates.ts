import { ordersPerRequestMax } from '@pm/schemas/http/trading';

/** So many orders a second, in requests of so many. */
export interface Rate {
  readonly perSecond: number;
  readonly batch: number;
}

const ordersPerSecondMax = 50_000;

/** Reads "20,300,1500x15": orders a second, and after an x the orders of a request. Throws `RangeError`. */
export function parseRates(text: string): readonly Rate[] {
  return text.split(',').map((one) => {
    const [, perSecond = '', batch = '1'] = /^(\d+)(?:x(\d+))?$/.exec(one.trim()) ?? [];
    const rate = { perSecond: Number(perSecond), batch: Number(batch) };
    const isGood =
      rate.batch >= 1 &&
      rate.batch <= ordersPerRequestMax &&
      rate.perSecond >= rate.batch &&
      rate.perSecond <= ordersPerSecondMax;
    if (isGood) return rate;
    throw new RangeError(
      `${JSON.stringify(one)} is no rate: write orders a second as 300 or 1500x15`,
    );
  });
}

export function rateName({ perSecond, batch }: Rate): string {
  const orders = `${perSecond.toLocaleString('en')}/s`;
  return batch === 1 ? orders : `${orders} in batches of ${batch}`;
}

/**
 * The rates that are tried to find what a machine carries, each a quarter above the one before, as whole requests a
 * second.
 */
export function risingRates(from: Rate, count: number): readonly Rate[] {
  return Array.from({ length: count }, (_, step) => {
    const requests = Math.round((from.perSecond / from.batch) * 1.25 ** step);
    return { perSecond: requests * from.batch, batch: from.batch };
  });
}
