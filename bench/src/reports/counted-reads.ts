import type { ClickHouse, QueryParameter } from '@pm/kit/clickhouse';

/**
 * Rows and bytes that queries have read since the last call, by the server's own count: in all parts, with every copy
 * of a row.
 */
export interface ReadCount {
  readonly rows: number;
  readonly bytes: number;
}

/** Reads that are counted; slower than those of services, so they are not timed. */
export interface CountedReads extends Pick<ClickHouse, 'selectRows'> {
  /** Rows and bytes since the last call. */
  take(): ReadCount;
}

interface Answer {
  readonly data: readonly unknown[];
  readonly statistics: { readonly rows_read: number; readonly bytes_read: number };
}

/**
 * `selectRows` by FORMAT JSON, whose end has the read rows and bytes. The summary header does not: with the embedded
 * engine it has the rows of the result.
 */
export function countedReads(url: string, database: string): CountedReads {
  let count: ReadCount = { rows: 0, bytes: 0 };
  return {
    async selectRows<T>(sql: string, params: Readonly<Record<string, QueryParameter>> = {}) {
      const address = new URL(url);
      address.searchParams.set('database', database);
      address.searchParams.set('output_format_json_quote_64bit_integers', '1');
      address.searchParams.set('output_format_json_quote_decimals', '1');
      for (const [name, value] of Object.entries(params))
        address.searchParams.set(`param_${name}`, parameterText(value));
      const response = await fetch(address, { method: 'POST', body: `${sql}\nFORMAT JSON` });
      if (!response.ok) throw new Error(await response.text());
      const { data, statistics } = (await response.json()) as Answer;
      count = {
        rows: count.rows + statistics.rows_read,
        bytes: count.bytes + statistics.bytes_read,
      };
      return data as readonly T[];
    },
    take() {
      const taken = count;
      count = { rows: 0, bytes: 0 };
      return taken;
    },
  };
}

function parameterText(value: QueryParameter): string {
  if (!Array.isArray(value)) return String(value);
  return `[${value.map((one) => (typeof one === 'number' ? one : `'${one}'`)).join(',')}]`;
}
