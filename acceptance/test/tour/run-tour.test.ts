import { type Visit, visitAll } from '../../src/tour/run-tour.ts';
import type { Stop } from '../../src/tour/stops.ts';

const stops: readonly Stop[] = ['GET /a', 'GET /b', 'GET /c'].map((route) => ({ route }));

/** Visits that pass from their given attempt on. */
function visitor(passes: Readonly<Record<string, number>>) {
  const attempts: string[] = [];
  const visitOne = async (stop: Stop): Promise<Visit> => {
    attempts.push(stop.route);
    const count = attempts.filter((route) => route === stop.route).length;
    const problem = count >= (passes[stop.route] ?? 1) ? null : 'it is empty';
    return { stop, target: stop.route, status: 200, body: '[]', problem };
  };
  return { attempts, visitOne };
}

test('a read that is late does not delay the others, and is repeated until it passes', async () => {
  const { attempts, visitOne } = visitor({ 'GET /a': 2 });
  const seen: string[] = [];
  const onVisit = ({ stop }: Visit) => void seen.push(stop.route);
  expect(await visitAll(stops, visitOne, onVisit, 10_000)).toBe(true);
  expect(seen).toEqual(['GET /b', 'GET /c', 'GET /a']);
  expect(attempts).toEqual(['GET /a', 'GET /b', 'GET /c', 'GET /a']);
});

test('all reads that never pass share one deadline, and each is reported once', async () => {
  const never = Number.POSITIVE_INFINITY;
  const { attempts, visitOne } = visitor({ 'GET /a': never, 'GET /c': never });
  const problems: (string | null)[] = [];
  const onVisit = ({ problem }: Visit) => void problems.push(problem);
  expect(await visitAll(stops, visitOne, onVisit, 0)).toBe(false);
  expect(problems).toEqual([null, 'it is empty', 'it is empty']);
  expect(attempts).toHaveLength(3);
});
