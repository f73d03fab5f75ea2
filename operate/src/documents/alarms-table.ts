import { type Alert, runbookOf } from '../observability/alert.ts';
import { pageAlerts } from '../observability/page-alerts.ts';
import { ticketAlerts } from '../observability/ticket-alerts.ts';
import { renewed } from './data-dictionary.ts';

const marks = {
  page: ['<!-- page:begin (npm run docs) -->', '<!-- page:end -->'],
  ticket: ['<!-- ticket:begin (npm run docs) -->', '<!-- ticket:end -->'],
} as const;

function tableOf(alerts: readonly Alert[]): string {
  const rows = alerts.map((alert) => {
    const { name, summary, expr, forText, cause } = alert;
    const page = runbookOf(alert).replace('docs/operating/', '');
    const holds = forText === undefined ? '' : ` for ${forText}`;
    // A bar would end the cell.
    const sign = `\`${expr.replaceAll('|', '\\|')}\`${holds}`;
    return `| [${name}](${page}): ${summary} | ${sign} | ${cause} |`;
  });
  const head = ['| alert | condition | likely cause and action |', '| --- | --- | --- |'];
  return [...head, ...rows].join('\n');
}

/** The page with its tables renewed. Throws a `RangeError` when marks are missing. */
export function withAlarms(page: string): string {
  const text = renewed(page, marks.page, tableOf(pageAlerts));
  return renewed(text, marks.ticket, tableOf(ticketAlerts));
}
