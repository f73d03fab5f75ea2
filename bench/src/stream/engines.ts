import { Engine } from '@pm/matcher/core';
import type { Envelope } from '@pm/schemas/log/orders';
import { type EnvelopeRules, envelopeOf, groupsOf, openingCommands } from './envelopes.ts';

/** Our engine with its markets listed and its wallets funded. */
export function openEngine(rules: EnvelopeRules): Engine {
  const engine = new Engine(0);
  for (const [offset, envelope] of openingEnvelopes(rules).entries()) {
    const { events } = engine.apply(envelope, offset);
    const refused = events.find((event) => event.kind === 'CommandRefused');
    if (refused !== undefined) throw new Error(`an opening command was refused: ${refused.code}`);
  }
  return engine;
}

/** The first records of a partition: its opening, the markets, and tokens for every wallet. */
export function openingEnvelopes(rules: EnvelopeRules): Envelope[] {
  const opening = {
    kind: 'OpenPartition',
    partition: 0,
    operatorKey: Buffer.alloc(32, 1),
    feeWallet: Buffer.alloc(20, 0xfe),
    bookAgeLimitMs: 2_000,
    orderAgeLimitMs: 3_600_000,
    timeMs: rules.acceptedAtMs(),
  } as const;
  const groups = [[opening], ...groupsOf(openingCommands(rules), 512)];
  return groups.map((commands, offset) => envelopeOf(commands, offset));
}
