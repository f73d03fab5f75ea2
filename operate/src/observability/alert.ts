/** `page`: someone acts at once, at any hour; `ticket`: someone acts the same day. */
export type Severity = 'page' | 'ticket';

/** An alert of Prometheus and its line in docs/operating/alarms.md; its page is docs/operating/runbook/NAME.md. */
export interface Alert {
  /** In Pascal case. */
  readonly name: string;
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

/** Path of the page of an alert in the repository: `runbook/partition-silent.md` for `PartitionSilent`. */
export function runbookOf({ name }: Pick<Alert, 'name'>): string {
  const words = name.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
  return `docs/operating/runbook/${words}.md`;
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
