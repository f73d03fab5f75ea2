import type { Defects } from './defects.ts';
import type { IngressSpoilers } from './machines/ingress-machine.ts';
import type { MatcherSpoilers } from './machines/matcher-machine.ts';

/** The parts of processes, changed where a defect is built in. */
export function defectParts(_defects: Defects): MatcherSpoilers & IngressSpoilers {
  return {
    reader: (reader) => reader,
    snapshots: (directory) => directory,
    executions: (stored) => stored,
    producer: (producer) => producer,
    channel: (channel) => channel,
  };
}
