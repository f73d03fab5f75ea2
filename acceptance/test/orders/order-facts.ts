/** A fill of one order as a source states it; null: the source does not say. */
export interface FillFacts {
  readonly trade: string;
  readonly role: 'TAKER' | 'MAKER';
  readonly token: string;
  readonly side: string;
  readonly price: string;
  readonly size: string;
  readonly fee: string | null;
  readonly feeRateBps: string | null;
  readonly transactionHash: string | null;
}

/** Facts of one order as a source states them; null: the source does not state the fact. */
export interface OrderFacts {
  /** Lower case. */
  readonly wallet: string | null;
  readonly market: string | null;
  readonly token: string | null;
  readonly side: string | null;
  readonly type: string | null;
  readonly price: string | null;
  readonly size: string | null;
  readonly status: string | null;
  /** Micro-shares. */
  readonly filledMicro: number | null;
  /** Every end that the source states, in its order: an order ends once. */
  readonly reasons: readonly string[] | null;
  /** In any order. */
  readonly fills: readonly FillFacts[] | null;
}

/** All orders by one source, by their ids. */
export interface OrderSource {
  readonly name: string;
  readonly orders: ReadonlyMap<string, OrderFacts>;
}

export const microShares = (size: string): number => Math.round(Number(size) * 1_000_000);

const sameEverywhere = [
  'wallet',
  'market',
  'token',
  'side',
  'type',
  'price',
  'size',
  'status',
  'filledMicro',
] as const;

const sameOfFills = [
  'token',
  'side',
  'price',
  'size',
  'fee',
  'feeRateBps',
  'transactionHash',
] as const;

/**
 * Differences between sources about orders that have all ended, one line each. An order that one source has, all must
 * have; each has exactly one reason for its end, and its fills add up to what is filled.
 */
export function orderDifferences(sources: readonly OrderSource[]): readonly string[] {
  const ids = new Set(sources.flatMap(({ orders }) => [...orders.keys()]));
  return [...ids].flatMap((id) => {
    const found = sources.map(({ name, orders }) => ({ name, facts: orders.get(id) }));
    const problems = [...found.flatMap(problemsOf), ...differencesOf(found)];
    return problems.map((problem) => `${id}: ${problem}`);
  });
}

interface Found {
  readonly name: string;
  readonly facts: OrderFacts | undefined;
}

/** Problems of one source alone. */
function problemsOf({ name, facts }: Found): readonly string[] {
  if (facts === undefined) return [`${name} does not have it`];
  const { reasons, fills, filledMicro } = facts;
  const problems: string[] = [];
  if (reasons !== null && reasons.length !== 1)
    problems.push(`${name} has ${reasons.length} reasons: ${reasons.join(', ')}`);
  if (fills === null) return problems;
  const keys = fills.map(keyOfFill);
  if (new Set(keys).size !== keys.length) problems.push(`${name} has a fill twice: ${keys}`);
  const sumMicro = fills.reduce((sum, { size }) => sum + microShares(size), 0);
  if (filledMicro !== null && sumMicro !== filledMicro)
    problems.push(`${name} has fills of ${sumMicro}, and filled is ${filledMicro}`);
  return problems;
}

function differencesOf(found: readonly Found[]): readonly string[] {
  const known = found.flatMap(({ name, facts }) => (facts === undefined ? [] : [{ name, facts }]));
  const problems: (string | null)[] = sameEverywhere.map((field) =>
    unequal(
      field,
      known.map(({ name, facts }) => ({ name, value: facts[field] })),
    ),
  );
  const reasons = known.map(({ name, facts }) => ({ name, value: facts.reasons?.join() ?? null }));
  problems.push(unequal('reason', reasons), ...fillDifferences(known));
  return problems.filter((problem) => problem !== null);
}

function fillDifferences(
  known: readonly { readonly name: string; readonly facts: OrderFacts }[],
): readonly (string | null)[] {
  const lists = known.flatMap(({ name, facts: { fills } }) =>
    fills === null ? [] : [{ name, fills: new Map(fills.map((fill) => [keyOfFill(fill), fill])) }],
  );
  const keys = new Set(lists.flatMap(({ fills }) => [...fills.keys()]));
  return [...keys].flatMap((key) => {
    const missing = lists.filter(({ fills }) => !fills.has(key));
    const stated = lists.flatMap(({ name, fills }) => {
      const fill = fills.get(key);
      return fill === undefined ? [] : [{ name, fill }];
    });
    return [
      ...missing.map(({ name }) => `${name} does not have the fill ${key}`),
      ...sameOfFills.map((field) =>
        unequal(
          `${field} of ${key}`,
          stated.map(({ name, fill }) => ({ name, value: fill[field] })),
        ),
      ),
    ];
  });
}

/** A line when those that say something say different things. */
function unequal(
  what: string,
  said: readonly { readonly name: string; readonly value: string | number | null }[],
): string | null {
  const known = said.filter(({ value }) => value !== null);
  if (new Set(known.map(({ value }) => value)).size <= 1) return null;
  return `${what}: ${known.map(({ name, value }) => `${name} ${value}`).join(', ')}`;
}

/** An order may be on both sides of one trade only with another order. */
const keyOfFill = ({ trade, role }: FillFacts): string => `${trade} ${role}`;
