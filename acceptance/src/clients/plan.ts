import type { ImportEvent } from '@pm/schemas/http/operator';
import type { WorldPlan } from '../smoke/world.ts';

/**
 * Markets of the exchange for published clients: a plain market, one with a fine tick, one with fees, a group of
 * mutually exclusive markets, and one market each that only one test trades in.
 */
const events: readonly ImportEvent[] = [
  {
    slug: 'compat-plain',
    title: 'Compat: plain markets',
    description: 'Markets that published clients trade in.',
    category: 'politics',
    tags: ['politics', 'compat'],
    series: 'compat-weekly',
    startDate: '2026-01-01T00:00:00.000Z',
    endDate: '2030-01-01T00:00:00.000Z',
    markets: ['clob-v2', 'unified', 'ccxt', 'python', 'readers'].map((name) => ({
      slug: `compat-${name}`,
      question: `Does ${name} trade here?`,
      description: `Resolves Yes when ${name} trades here.`,
      tickSize: '0.01',
      rewardsDailyRate: 5,
    })),
  },
  {
    slug: 'compat-fine',
    title: 'Compat: a fine tick and fees',
    category: 'crypto',
    tags: ['crypto', 'compat'],
    endDate: '2030-01-01T00:00:00.000Z',
    markets: [
      {
        slug: 'compat-fine-fees',
        question: 'Do fine ticks and fees work?',
        tickSize: '0.001',
        feeRateBps: 441,
      },
    ],
  },
  {
    slug: 'compat-group',
    title: 'Compat: one of three',
    category: 'sports',
    tags: ['sports', 'compat'],
    endDate: '2030-01-01T00:00:00.000Z',
    markets: ['a', 'b', 'c'].map((name) => ({
      slug: `compat-group-${name}`,
      question: `Does ${name} win?`,
      negRisk: true,
    })),
  },
  {
    slug: 'compat-tour',
    title: 'Compat: a tour',
    category: 'economics',
    tags: ['economics', 'compat'],
    markets: [{ slug: 'compat-tour', question: 'Does a newcomer see everything?' }],
  },
  {
    slug: 'compat-streams',
    title: 'Compat: streams',
    category: 'economics',
    tags: ['economics', 'compat'],
    endDate: '2030-01-01T00:00:00.000Z',
    markets: [{ slug: 'compat-streams', question: 'Does every reader see every trade?' }],
  },
  {
    slug: 'compat-packages',
    title: 'Compat: packages of this repository',
    category: 'economics',
    tags: ['economics', 'compat'],
    endDate: '2030-01-01T00:00:00.000Z',
    markets: ['client', 'mcp'].map((name) => ({
      slug: `compat-package-${name}`,
      question: `Does the package ${name} work where it is installed?`,
    })),
  },
];

export const compatPlan: WorldPlan = {
  events,
  depositUsdc: '100000',
  familyDomains: true,
  partitions: 2,
};
