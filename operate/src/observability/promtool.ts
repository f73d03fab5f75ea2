import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import type { Alert } from './alert.ts';
import { annotationsOf } from './rules-file.ts';

/** Where the package of Debian is unpacked. */
const folder = join(repositoryRoot, '.cache/promtool');
const unpacked = join(folder, 'usr/bin/promtool');
const fetchTimeoutMs = 120_000;

/** Commands of the machine; where they are missing nothing is fetched. */
const commands = { promtool: 'promtool', fetch: 'apt-get', unpack: 'dpkg' } as const;

/** `promtool` of Prometheus: on the PATH, or of the package of Debian, which is fetched once; null without both. */
export function findPromtool(): string | null {
  const onPath = spawnSync(commands.promtool, ['--version'], { stdio: 'ignore' });
  if (onPath.status === 0) return commands.promtool;
  if (existsSync(unpacked)) return unpacked;
  try {
    mkdirSync(folder, { recursive: true });
    const options = { cwd: folder, stdio: 'ignore', timeout: fetchTimeoutMs } as const;
    execFileSync(commands.fetch, ['download', 'prometheus'], options);
    for (const name of readdirSync(folder)) {
      if (name.endsWith('.deb')) execFileSync(commands.unpack, ['-x', name, '.'], options);
    }
    return existsSync(unpacked) ? unpacked : null;
  } catch {
    return null;
  }
}

/** Samples of series, 15 s apart, in the notation of promtool, and alerts that are expected at moments. */
export interface RuleTest {
  /** Name of the test in the text about a failure. */
  readonly name: string;
  /** The text of a file of rules. */
  readonly rules: string;
  readonly series: Readonly<Record<string, string>>;
  readonly expected: readonly ExpectedAlert[];
}

export interface ExpectedAlert {
  readonly alert: Alert;
  /** Since the first sample, e.g. `9m30s`. */
  readonly at: string;
  /** Labels of each alert that fires, without its severity; none when it is silent. */
  readonly firing: readonly Readonly<Record<string, string>>[];
}

/** Judges rules by tests. Returns what promtool says of the failures; empty when all hold. */
export function judgeRules(promtool: string, tests: readonly RuleTest[]): string {
  const work = mkdtempSync(join(tmpdir(), 'pm-rules-'));
  try {
    const files = tests.map((one, index) => {
      const [rules, file] = [join(work, `rules-${index}.yml`), join(work, `test-${index}.yml`)];
      writeFileSync(rules, one.rules);
      // JSON is YAML.
      writeFileSync(file, JSON.stringify(fileOf(rules, one)));
      return file;
    });
    const { status, stdout, stderr } = spawnSync(promtool, ['test', 'rules', ...files], {
      encoding: 'utf8',
      // It ends soon: collections would take a sixth of its time.
      env: { GOGC: '400', ...process.env },
    });
    return status === 0 ? '' : `${stdout}${stderr}`;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const interval = '15s';

function fileOf(rules: string, { name, series, expected }: RuleTest): object {
  const test = {
    name,
    interval,
    input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
    alert_rule_test: expected.map(({ alert, at, firing }) => ({
      eval_time: at,
      alertname: alert.name,
      exp_alerts: firing.map((labels) => ({
        exp_labels: { ...labels, severity: alert.severity },
        exp_annotations: annotationsOf(alert),
      })),
    })),
  };
  return { rule_files: [rules], evaluation_interval: interval, tests: [test] };
}
