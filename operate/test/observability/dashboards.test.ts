import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { seriesNamedIn } from '../../src/observability/alert.ts';
import { dashboardFiles } from '../../src/observability/dashboard-files.ts';
import { dashboards } from '../../src/observability/dashboards.ts';
import { metricSections, seriesNames } from '../../src/observability/metrics.ts';

const panels = dashboards.flatMap(({ name, panels: of }) => of.map((panel) => ({ name, panel })));
const exprs = panels.flatMap(({ panel }) => panel.queries.map(({ expr }) => expr));

describe('the dashboards', () => {
  test.each(Object.entries(dashboardFiles()))('%s is up to date (npm run docs)', (path, text) => {
    expect(readFileSync(join(repositoryRoot, path), 'utf8')).toBe(text);
  });

  test.each(panels.map(({ name, panel }) => [`${name}: ${panel.title}`, panel] as const))(
    '%s names series that services serve',
    (_, { queries }) => {
      for (const { expr } of queries) {
        expect(seriesNamedIn(expr).length).toBeGreaterThan(0);
        expect(seriesNamedIn(expr).filter((name) => !seriesNames().has(name))).toEqual([]);
      }
    },
  );

  test('group and show labels that their metrics have', () => {
    const labels = new Set(
      metricSections.flatMap(({ metrics }) => metrics.flatMap((metric) => metric.labels ?? [])),
    );
    // Prometheus adds `instance`, the address that it reads.
    const known = new Set<string>([...labels, 'service', 'instance', 'le']);
    for (const expr of exprs) {
      const used = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) =>
        list.split(',').map((label) => label.trim()),
      );
      expect([expr, used.filter((label) => !known.has(label))]).toEqual([expr, []]);
    }
  });

  test('have unique titles, ids and legends', () => {
    expect(new Set(dashboards.map(({ name }) => name)).size).toBe(dashboards.length);
    for (const { panels: of } of dashboards) {
      expect(new Set(of.map(({ title }) => title)).size).toBe(of.length);
      for (const { queries } of of)
        expect(new Set(queries.map(({ legend }) => legend)).size).toBe(queries.length);
    }
  });
});
