/** `page`: someone acts at once, at any hour; `ticket`: someone acts the same day. */
export type Severity = 'page' | 'ticket';

/** Pages of docs/operating/runbook, by what is concerned. */
export type RunbookPage =
  | 'services'
  | 'partitions'
  | 'records'
  | 'money'
  | 'engines'
  | 'projections'
  | 'streams';

/** An alert of Prometheus, its line in docs/operating/alarms.md, and its section in docs/operating/runbook. */
export interface Alert {
  /** In Pascal case. */
  readonly name: string;
  /** The page of the runbook that has its section. */
  readonly runbook: RunbookPage;
  readonly severity: Severity;
  /** The condition as PromQL; its labels are those of the alert. */
  readonly expr: string;
  /** How long the condition holds before the alert fires; absent: at the first evaluation. */
  readonly forText?: string;
  /** One sentence fragment for a notification and for the list of alarms. */
  readonly summary: string;
  /** Likely cause and first action, as Markdown. */
  readonly cause: string;
}

/** The section of an alert in the repository: `docs/operating/runbook/partitions.md#partitionsilent`. */
export function runbookOf({ name, runbook }: Pick<Alert, 'name' | 'runbook'>): string {
  return `docs/operating/runbook/${runbook}.md#${name.toLowerCase()}`;
}

/** Names of the series that an expression of PromQL reads. */
export function seriesNamedIn(expr: string): readonly string[] {
  return expr.match(/\b(pm|process|nodejs)_\w+|\bup\b/g) ?? [];
}

/**
 * A counter that grew within the window, by labels. `increase` alone misses the first count of a series, which appears
 * with it.
 */
export function grew(selector: string, window: string, by: string): string {
  return `sum by (${by}) (increase(${selector}[${window}]) > 0 or (${selector} > 0 unless ${selector} offset ${window}))`;
}
