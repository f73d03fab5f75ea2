import { metricSections } from '../observability/metrics.ts';
import { renewed } from './data-dictionary.ts';

const marks = ['<!-- metrics:begin (npm run docs) -->', '<!-- metrics:end -->'] as const;

/** Every metric as Markdown, a table for each program or layer. */
function metricsTables(): string {
  return metricSections
    .map(({ title, services, metrics }) => {
      const rows = metrics.map(({ name, type, labels = [], help }) => {
        const shown = labels.map((label) => `\`${label}\``).join(', ');
        return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
      });
      return [
        `## ${title}`,
        '',
        `Of ${services.join(', ')}.`,
        '',
        '| metric | type | labels | meaning |',
        '| --- | --- | --- | --- |',
        ...rows,
      ].join('\n');
    })
    .join('\n\n');
}

/** The page with its tables renewed. Throws a `RangeError` when marks are missing. */
export function withMetrics(page: string): string {
  return renewed(page, marks, metricsTables());
}
