import type { LogAdmin } from '@pm/kit/kafka';
import type { Progress } from '../local/managed-process.ts';

/**
 * Largest values of settings of brokers by which one that is dead without saying so is replaced in about 1.2 s, and one
 * that hangs is left out (docs/operating/kafka.md). Milliseconds.
 */
export const failoverSettings = {
  'broker.session.timeout.ms': 1000,
  'broker.heartbeat.interval.ms': 250,
  'replica.lag.time.max.ms': 1500,
  'replica.fetch.wait.max.ms': 250,
  'replica.fetch.backoff.ms': 100,
  'controller.quorum.fetch.timeout.ms': 1000,
  'controller.quorum.election.timeout.ms': 500,
  'controller.quorum.election.backoff.max.ms': 500,
} as const;

/** Largest advised values of the settings for sessions of consumer groups, on any number of brokers, milliseconds. */
export const sessionSettings = {
  'group.min.session.timeout.ms': 1000,
  'group.initial.rebalance.delay.ms': 0,
} as const;

/** One line for each setting by which brokers take longer than advised; `found` is by number of the broker. */
export function slowSettings(
  found: ReadonlyMap<number, ReadonlyMap<string, string>>,
): readonly string[] {
  const advised = { ...(found.size > 1 ? failoverSettings : {}), ...sessionSettings };
  return Object.entries(advised).flatMap(([name, most]) => {
    const slow = [...found].filter(([, settings]) => Number(settings.get(name) ?? most) > most);
    if (slow.length === 0) return [];
    const values = [...new Set(slow.map(([, settings]) => settings.get(name)))].join(', ');
    const nodes = slow.map(([node]) => node).join(', ');
    return [`${name} is ${values} on broker ${nodes}, advised is ${most}`];
  });
}

/** Reports settings with which a lost broker stops its partitions for longer than need be; refuses none. */
export async function reportSlowBrokers(
  admin: Pick<LogAdmin, 'brokerSettings'>,
  progress: Progress,
): Promise<void> {
  const names = Object.keys({ ...failoverSettings, ...sessionSettings });
  const found = await admin.brokerSettings(names);
  if (found.size === 0) progress('brokers: their settings are not shown to this account');
  for (const line of slowSettings(found)) progress(`brokers: ${line} (docs/operating/kafka.md)`);
}
