import { clockLeapMaxMs } from '@pm/schemas/log/log-rules';
import { ClockWitness } from '../../src/commands/clock-witness.io.ts';

test('witnesses of a partition are a second apart by the monotonic clock, whatever the wall clock does', () => {
  const now = { wallMs: 1_800_000_000_000, monotonicMs: 0 };
  const times: number[] = [];
  const witness = new ClockWitness({
    clock: { nowMs: () => now.wallMs, monotonicMs: () => now.monotonicMs },
    envelopes: {
      add: (_, command) => {
        if (command.kind === 'Tick') times.push(command.timeMs);
        return null;
      },
    },
  });
  const farBackMs = now.wallMs - 10 * 3_600_000;
  witness.see(0, farBackMs);
  now.wallMs -= 3_600_000;
  for (now.monotonicMs = 250; now.monotonicMs <= 3_000; now.monotonicMs += 250) {
    now.wallMs += 250;
    witness.see(0, farBackMs);
  }
  expect(times).toHaveLength(4);
  witness.see(0, now.wallMs - clockLeapMaxMs);
  expect(times).toHaveLength(4);
});
