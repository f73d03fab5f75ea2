/**
 * A pattern of the whole numbers from `min` to `max`, in decimal digits without leading zeros. Parameters are text, so
 * their range is part of their form. Throws a `RangeError` when the range is empty or not of safe integers from 0 on.
 */
export function wholeNumberPattern(min: number, max: number): string {
  return `^(${wholeNumberForms(min, max)})$`;
}

/**
 * Alternatives of a pattern of the whole numbers from `min` to `max`, for patterns of which a whole number is a part.
 * Throws a `RangeError` when the range is empty or not of safe integers from 0 on.
 */
export function wholeNumberForms(min: number, max: number): string {
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || min < 0 || min > max) {
    throw new RangeError(`no whole numbers from ${min} to ${max}`);
  }
  const parts: string[] = [];
  for (let from = min; from <= max; ) {
    // All numbers of as many digits as `from`, or fewer where `max` lies among them.
    const to = Math.min(max, 10 ** String(from).length - 1);
    parts.push(...sameLength(String(from), String(to)));
    from = to + 1;
  }
  return parts.join('|');
}

/** Alternatives for the numbers between two texts of digits of one length. */
function sameLength(from: string, to: string): readonly string[] {
  if (from === to) return [from];
  const [first = '', last = ''] = [from.slice(0, 1), to.slice(0, 1)];
  const [fromRest, toRest] = [from.slice(1), to.slice(1)];
  if (fromRest === '') return [digits(first, last)];
  if (first === last) return sameLength(fromRest, toRest).map((rest) => first + rest);
  const isFromWhole = /^0*$/.test(fromRest);
  const isToWhole = /^9*$/.test(toRest);
  const low = isFromWhole ? Number(first) : Number(first) + 1;
  const high = isToWhole ? Number(last) : Number(last) - 1;
  const rest = fromRest.length === 1 ? '[0-9]' : `[0-9]{${fromRest.length}}`;
  const nines = '9'.repeat(fromRest.length);
  const zeros = '0'.repeat(fromRest.length);
  return [
    ...(isFromWhole ? [] : sameLength(fromRest, nines).map((tail) => first + tail)),
    ...(low > high ? [] : [digits(String(low), String(high)) + rest]),
    ...(isToWhole ? [] : sameLength(zeros, toRest).map((tail) => last + tail)),
  ];
}

function digits(from: string, to: string): string {
  return from === to ? from : `[${from}-${to}]`;
}
