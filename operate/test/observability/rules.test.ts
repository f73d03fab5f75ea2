import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { withAlarms } from '../../src/documents/alarms-table.ts';
import { type Alert, seriesNamedIn } from '../../src/observability/alert.ts';
import { seriesNames } from '../../src/observability/metrics.ts';
import { findPromtool, judgeRules, type RuleTest } from '../../src/observability/promtool.ts';
import { alerts, rulesFile } from '../../src/observability/rules-file.ts';
import { faults } from './faults.ts';

const read = (name: string) => readFileSync(join(repositoryRoot, name), 'utf8');
const names = alerts.map(({ name }) => name);

describe('the rules', () => {
  test('are the file that Prometheus loads (npm run docs)', () => {
    expect(read('deploy/observability/rules.yml')).toBe(rulesFile());
  });

  test('are the tables of docs/operating/alarms.md (npm run docs)', () => {
    const page = read('docs/operating/alarms.md');
    expect(withAlarms(page)).toBe(page);
  });

  test('have one name each', () => {
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(alerts.map((alert) => [alert.name, alert] as const))(
    '%s names series that services serve',
    (_, { expr }) => {
      const named = seriesNamedIn(expr);
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((name) => !seriesNames().has(name))).toEqual([]);
    },
  );

  test('have a fault each', () => {
    expect(Object.keys(faults).sort()).toEqual([...names].sort());
  });
});

describe('the runbook', () => {
  const folder = 'docs/operating/runbook';
  const pages = readdirSync(join(repositoryRoot, folder));
  const parts = ['Users see', 'Look', 'Do', 'Over when'];

  test.each(alerts.map((alert) => [alert.name, alert] as const))(
    'has a section of %s that answers every question',
    (name, { runbook }) => {
      const sections = read(`${folder}/${runbook}.md`).split('\n## ');
      const section = sections.find((text) => text.startsWith(`${name}\n`)) ?? '';
      expect(parts.filter((part) => !section.includes(`\n**${part}:**`))).toEqual([]);
    },
  );

  test('has no section without an alert', () => {
    const titles = pages.flatMap((page) =>
      [...read(`${folder}/${page}`).matchAll(/^## (.*)$/gm)].map(([, title = '']) => title),
    );
    expect(titles.sort()).toEqual([...names].sort());
  });
});

const promtool = findPromtool();
if (promtool === null) {
  process.stderr.write('rules: no promtool on the PATH and no package prometheus: not judged\n');
}
const judged = promtool === null ? test.skip : test;

/** Moment at which a rule is silent again: its series are right for ten minutes, and its windows have passed. */
function overAt({ expr }: Alert): string {
  const windows = expr.matchAll(/(?:\[|offset )(\d+)([mh])/g);
  const minutes = [...windows].map(([, count, unit]) => Number(count) * (unit === 'h' ? 60 : 1));
  return `${40 + Math.max(0, ...minutes)}m`;
}

/** Silent before the fault, firing during it, silent when it is over. */
function testOf(alert: Alert): RuleTest {
  const { series, labels = {}, at = '29m30s' } = faults[alert.name] ?? { series: {} };
  return {
    name: alert.name,
    rules: rulesFile([alert]),
    series,
    expected: [
      { alert, at: '9m30s', firing: [] },
      { alert, at, firing: [labels] },
      { alert, at: overAt(alert), firing: [] },
    ],
  };
}

describe('a fault', () => {
  judged('fires its alert, which is silent before and after it', () => {
    expect(judgeRules(promtool ?? '', alerts.map(testOf))).toBe('');
  });

  judged('is missed by a rule whose threshold is beyond it', () => {
    const tests = alerts.filter(({ name }) => name === 'MatcherLags').map(testOf);
    const beyond = tests.map((one) => ({ ...one, rules: one.rules.replace('> 1', '> 5') }));
    expect(judgeRules(promtool ?? '', beyond)).toContain('MatcherLags');
  });
});
