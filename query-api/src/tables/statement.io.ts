import type { QueryParameter } from '@pm/kit/clickhouse';

/** What rows of a statement must be, with the parameters that the texts name: values never stand in a statement. */
export class Conditions {
  readonly params: Record<string, QueryParameter>;
  readonly #texts: string[] = [];

  constructor(params: Readonly<Record<string, QueryParameter>> = {}) {
    this.params = { ...params };
  }

  add(text: string, params: Readonly<Record<string, QueryParameter>> = {}): void {
    this.#texts.push(text);
    Object.assign(this.params, params);
  }

  get isEmpty(): boolean {
    return this.#texts.length === 0;
  }

  /** The conditions behind `WHERE` or `AND`. */
  get text(): string {
    return this.#texts.join(' AND ');
  }
}

/**
 * Rows in front of the second that a parameter names (UInt32, Unix seconds). The bound has the precision of the column, or
 * ClickHouse leaves out rows of the second before (traps.md).
 */
export function timeBefore(parameter: string): string {
  return `time < toDateTime64({${parameter}:UInt32}, 3)`;
}
