/** Texts of figures. Prices are shown in cents, as the field does; amounts in USDC. */

/** Decimal text of a price as cents: "0.525" is "52.5¢". */
export function cents(price: string | number | null): string {
  if (price === null || price === '') return '–';
  const value = Number(price) * 100;
  if (!Number.isFinite(value)) return '–';
  return `${trimZeros(value.toFixed(2))}¢`;
}

/** A share of one as a whole percentage; below one and above 99 it says so. */
export function percent(price: string | number | null): string {
  if (price === null || price === '') return '–';
  const value = Number(price) * 100;
  if (!Number.isFinite(value)) return '–';
  if (value > 0 && value < 1) return '<1%';
  if (value > 99 && value < 100) return '>99%';
  return `${Math.round(value)}%`;
}

/** The percentages of both outcomes as one pair: they add up to 100. `price` is that of the first one. */
export function percents(price: number | null): readonly [string, string] {
  if (price === null) return ['–', '–'];
  const first = percent(price);
  const rounded = /^(\d+)%$/.exec(first)?.[1];
  return [first, rounded === undefined ? percent(1 - price) : `${100 - Number(rounded)}%`];
}

/** A number of shares with at most two decimals and groups of thousands. */
export function shares(size: string | number): string {
  return grouped(Number(size), 2);
}

/** An amount of USDC. */
export function usd(amount: string | number, decimals = 2): string {
  const value = Number(amount);
  if (!Number.isFinite(value)) return '–';
  const sign = value < 0 ? '−' : '';
  return `${sign}$${Math.abs(value).toLocaleString('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  })}`;
}

/** A large amount, short: $1.2k, $3.4m. */
export function usdShort(amount: string | number): string {
  const value = Number(amount);
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1_000_000) return `$${trimZeros((value / 1_000_000).toFixed(1))}m`;
  if (size >= 1_000) return `$${trimZeros((value / 1_000).toFixed(1))}k`;
  return `$${trimZeros(value.toFixed(0))}`;
}

/** A whole number with groups of thousands. */
export function whole(value: number): string {
  return grouped(value, 0);
}

/** Time of the day of Unix seconds or milliseconds, local. */
export function clock(time: number): string {
  const date = new Date(time < 1e12 ? time * 1000 : time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

/** How long ago, in the largest unit: "now", "12 s", "3 min", "5 h", "2 d". */
export function ago(timeMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - timeMs) / 1000));
  if (seconds < 2) return 'now';
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** Both ends of an address. */
export function shortAddress(address: string): string {
  return address.length <= 12 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`;
}

function grouped(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return '–';
  return value.toLocaleString('en-US', { maximumFractionDigits: decimals });
}

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
