import * as scripts from '@pm/domain/ledger/ledger-lua';
import type { Command } from '@pm/schemas/log/orders';
import { fixedHistories } from './fixed-histories.ts';
import { failureText, redisOfTests, runHistories, withExchange } from './run-histories.ts';
import type { Defects } from './simulated-exchange.ts';

// A test of the test: defects are built into the scripts and into the core, and histories must find each of them.
const redis = redisOfTests();

/** Histories until a defect must have been found. */
const runsMax = 600;

/** Replaces a part of a script; a text that has moved on must not make the test pass. */
function without(part: string, instead = ''): Defects {
  if (!Object.values(scripts).some((lua) => lua.includes(part)))
    throw new Error(`no script has: ${part}`);
  return { script: { part, instead } };
}

const answeredCheck = 'if tonumber(held.answers) >= senderCount(held) then';
const soundCheck = 'local isReady, generation = isSound(KEYS[1])';
const readyCheck =
  "local ready, generation = unpack(redis.call('HMGET', KEYS[1], 'ready', 'generation'))\nlocal isReady = ready == '1'";

const noFunds = without("tonumber(money[1] or '0') - tonumber(money[2] or '0') < amount", 'false');

const ofScripts: readonly (readonly [string, Defects])[] = [
  [
    'an id answers "already" for anything',
    without("if held.purpose ~= ARGV[4] or not isAmount then return 'conflict' end"),
  ],
  [
    'a reservation is given back while another process sends under it',
    without(
      'releaseIfAnswered(KEYS[1], KEYS[2], ARGV[3], held)\nreturn 1',
      'release(KEYS[1], KEYS[2], ARGV[3], held)\nreturn 1',
    ),
  ],
  ['the first of several answers ends a reservation', without(answeredCheck, 'if true then')],
  ['money is reserved that is not there', noFunds],
  [
    'a transfer counts as often as it comes',
    without("redis.call('HEXISTS', KEYS[2], id) == 0", 'true'),
  ],
  [
    'reservations are released while their orders are on the way',
    without(
      'releaseOrphans(pending, waiting, walletPrefix, ARGV[8]',
      "releaseOrphans(pending, waiting, walletPrefix, '+inf'",
    ),
  ],
  ['a Redis from an earlier moment takes reservations', without(soundCheck, readyCheck)],
  [
    'a refusal counts although its process has not read what the ledger knows',
    without("redis.call('HGET', ARGV[7], ARGV[8]) or '0'}", "'0'}"),
  ],
];

const ofIngress: readonly (readonly [string, Defects])[] = [
  [
    'the log is not asked for a split whose money is gone',
    {
      reserved: ({ kind, amountMicro }, result) =>
        kind === 'split' && amountMicro === 0 ? { ...result, outcome: 'insufficient' } : result,
    },
  ],
  ['an order counts from the end of its wait at the gateway', { arrivesAfterWait: true }],
];

const ofCore: readonly (readonly [string, Defects])[] = [
  ['a split needs no reservation', spoiled('SplitPosition', { holdMicro: 1e15 })],
  ['an order needs no reservation', spoiled('PlaceOrder', { holdMicro: 1e14 })],
  [
    'an old reservation counts after the loss of the ledger',
    spoiled('PlaceOrder', { generation: 1e6 }),
  ],
  ['an order is booked however late it is', spoiled('PlaceOrder', { acceptedAtMs: null })],
];

/** A core that does not look at a field of a command: it always has what the check wants. */
function spoiled(kind: Command['kind'], fields: Readonly<Record<string, number | null>>): Defects {
  return {
    command: (command, timeMs) => {
      if (command.kind !== kind) return command;
      const changes = Object.entries(fields).map(([name, value]) => [name, value ?? timeMs]);
      return { ...command, ...Object.fromEntries(changes) } as Command;
    },
  };
}

async function isFoundByFixed(defects: Defects): Promise<boolean> {
  for (const { ingresses, run } of fixedHistories) {
    const found = withExchange(redis(), { ingresses, defects }, run).then(
      () => false,
      () => true,
    );
    if (await found) return true;
  }
  return false;
}

test.each([...ofScripts, ...ofIngress, ...ofCore])(
  'histories find that %s',
  async (_name, defects) => {
    if (await isFoundByFixed(defects)) return;
    const random = { seed: 7, runs: runsMax, defects, isShrunk: false };
    const { outcome } = await runHistories(redis(), random);
    expect(outcome.failed).toBe(true);
  },
  10 * 60_000,
);

test(
  'a failing history shrinks to the few steps that it needs, and names its seed',
  async () => {
    // Each of hundreds of shorter ones is run.
    const { outcome } = await runHistories(redis(), { seed: 7, steps: 80, defects: noFunds });
    expect(outcome.failed).toBe(true);
    const [steps = []] = outcome.counterexample ?? [];
    expect(steps.length).toBeLessThan(15);
    expect(failureText(outcome)).toContain('seed 7, path');
  },
  10 * 60_000,
);
