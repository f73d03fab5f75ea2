import type { KindResult, PhaseSums } from '../../src/flood/phases.ts';
import { sendFlood } from '../../src/flood/send-flood.ts';
import { floodTable, p99Ratio, probeTable, processorTable } from '../../src/flood/tables.ts';

function sums(ms: number, answers: Record<string, number> = {}): PhaseSums {
  const latencies = Array.from({ length: 100 }, () => ms);
  return {
    samples: {
      orders: { latencyMs: latencies, outcomes: { live: 100 } },
      cancels: { latencyMs: latencies, outcomes: { canceled: 100 } },
      reads: { latencyMs: latencies, outcomes: { 'HTTP 200': 100 } },
      plannedLateMs: 0,
    },
    processor: new Map([['ingress', 1]]),
    answers,
    planned: 100,
    seconds: 10,
  };
}

const level = { name: 'within', share: 1 };
const resultOf = (quiet: PhaseSums, flood: PhaseSums): KindResult => ({
  kind: { name: 'kind', perSecond: 10, isAtProbe: false, locksOrders: false },
  quiet,
  floods: [{ level, sums: flood }],
});

describe('the tables of floods', () => {
  it('judge a flood by its p99 against the quiet phases beside it', () => {
    const verdictOf = (ms: number) => probeTable([resultOf(sums(10), sums(ms))]).rows[1]?.[8];
    expect([verdictOf(20), verdictOf(20.1)]).toEqual(['met', 'missed']);
    expect(p99Ratio(sums(10), sums(35), 'orders')).toBe(3.5);
  });

  it('count what was not sent apart from the answers, and processor time as a share of a core', () => {
    const result = resultOf(sums(10), sums(10, { 200: 60, 429: 30, 'not sent': 10 }));
    const [row] = floodTable([result]).rows;
    expect(row?.slice(2)).toEqual(['10', '9', '200 60, 429 30; not sent 10']);
    expect(processorTable([result]).rows[1]).toEqual(['kind', 'within', '10']);
  });
});

describe('the sender of floods', () => {
  it('sends every planned request, and counts each once', async () => {
    const sent: number[] = [];
    const { planned, answers } = await sendFlood(
      { perSecond: 500, seconds: 0.1 },
      async (index) => {
        sent.push(index);
        return index % 2 === 0 ? '200' : '429';
      },
    );
    const { 200: good = 0, 429: refused = 0, 'not sent': unsent = 0 } = answers;
    expect(good + refused + unsent).toBe(planned);
    expect(sent).toHaveLength(good + refused);
  });

  it('has a bound of requests in flight', async () => {
    let most = 0;
    let inFlight = 0;
    const { answers } = await sendFlood({ perSecond: 100_000, seconds: 0.05 }, async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise((resolve) => setTimeout(resolve, 200));
      inFlight -= 1;
      return '200';
    });
    expect(most).toBeLessThanOrEqual(512);
    expect(answers['not sent']).toBeGreaterThan(0);
  });
});
