import { grafanaOf } from './dashboard.ts';
import { dashboards } from './dashboards.ts';

/** The dashboards as files of the repository, by path. */
export function dashboardFiles(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    dashboards.map((dashboard) => [
      `deploy/observability/dashboards/${dashboard.name}.json`,
      `${JSON.stringify(grafanaOf(dashboard), null, 2)}\n`,
    ]),
  );
}
