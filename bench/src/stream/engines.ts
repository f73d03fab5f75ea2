import { Engine } from '@pm/matcher/core';
import { type EnvelopeRules, envelopeOf, groupsOf, openingCommands } from './envelopes.ts';

/** Our engine with its markets listed and its wallets funded. */
export function openEngine(rules: EnvelopeRules): Engine {
  const engine = new Engine(0);
  const opening = {
    kind: 'OpenPartition',
    partition: 0,
    operatorKey: Buffer.alloc(32, 1),
    feeWallet: Buffer.alloc(20, 0xfe),
    bookAgeLimitMs: 2_000,
    orderAgeLimitMs: 3_600_000,
    timeMs: rules.acceptedAtMs(),
  } as const;
  engine.apply(envelopeOf([opening], 0), 0);
  let offset = 1;
  for (const commands of groupsOf(openingCommands(rules), 512)) {
    const { events } = engine.apply(envelopeOf(commands, offset), offset);
    const refused = events.find((event) => event.kind === 'CommandRefused');
    if (refused !== undefined) throw new Error(`an opening command was refused: ${refused.code}`);
    offset += 1;
  }
  return engine;
}
