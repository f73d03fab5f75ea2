import { type Alert, runbookOf } from './alert.ts';
import { pageAlerts } from './page-alerts.ts';
import { ticketAlerts } from './ticket-alerts.ts';

export const alerts: readonly Alert[] = [...pageAlerts, ...ticketAlerts];

/** Annotations of an alert, as they are in the file of rules. */
export function annotationsOf(alert: Alert): Readonly<Record<'summary' | 'runbook_url', string>> {
  return { summary: alert.summary, runbook_url: runbookOf(alert) };
}

/** Alerts as a file of rules for Prometheus, in a group for each severity; default: all. */
export function rulesFile(of: readonly Alert[] = alerts): string {
  const severities = [...new Set(of.map(({ severity }) => severity))];
  const blocks = severities.map((severity) =>
    [
      `  - name: exchange-${severity}`,
      '    rules:',
      ...of.filter((alert) => alert.severity === severity).map(ruleOf),
    ].join('\n'),
  );
  return `# Written by npm run docs from operate/src/observability.\ngroups:\n${blocks.join('\n')}\n`;
}

function ruleOf(alert: Alert): string {
  const { name, expr, forText, severity } = alert;
  const { summary, runbook_url: runbook } = annotationsOf(alert);
  return [
    `      - alert: ${name}`,
    `        expr: ${quoted(expr)}`,
    ...(forText === undefined ? [] : [`        for: ${forText}`]),
    '        labels:',
    `          severity: ${severity}`,
    '        annotations:',
    `          summary: ${quoted(summary)}`,
    `          runbook_url: ${runbook}`,
  ].join('\n');
}

/** A scalar of YAML in the quotes that Biome prefers: double ones, unless there are some inside. */
const quoted = (text: string) =>
  text.includes('"') ? `'${text.replaceAll("'", "''")}'` : `"${text.replaceAll('\\', '\\\\')}"`;
