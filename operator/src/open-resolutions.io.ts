import { reactionTo } from '@pm/kit/fault';
import type { Lifecycle } from '@pm/kit/lifecycle';
import type { Metrics } from '@pm/kit/metrics';
import { runRounds } from '@pm/kit/rounds';
import { FeeNotices } from './catalog/fee-notices.io.ts';
import { operatorReadings } from './metrics.ts';
import { Resolutions, type ResolutionsOptions } from './resolutions.io.ts';

/** Time between two looks at what is due, milliseconds. */
const lookMs = 500;

/** Opens the resolutions that can be challenged, and carries out these and noticed fees at the end of their windows. */
export function openResolutions(
  options: ResolutionsOptions,
  {
    life,
    metrics,
  }: { readonly life: Pick<Lifecycle, 'onStop' | 'fail'>; readonly metrics: Metrics },
): Resolutions {
  const resolutions = new Resolutions(options);
  const notices = new FeeNotices(options);
  metrics.gauge({ ...operatorReadings.resolutionsDue, read: () => resolutions.dueCount() });
  const rounds = runRounds({
    round: async () => {
      await resolutions.tick();
      await notices.tick();
      return lookMs;
    },
    onFailure: (error) => {
      if (reactionTo(error) === 'stop') life.fail(error);
      return lookMs;
    },
  });
  life.onStop('resolutions', () => rounds.close());
  return resolutions;
}
