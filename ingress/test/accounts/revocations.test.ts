import { openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import { awaitRevocations } from '../../src/accounts/revocations.io.ts';

/** Routes of keys that answer at once, and how far the processes are. */
function openApp() {
  const readings = { asked: 0, answer: [] as readonly string[] | null, wait: Promise.resolve() };
  const app = openHttp({ log: silentLog, bodyLimitBytes: 1_024 });
  awaitRevocations(app, {
    behind: async () => {
      readings.asked += 1;
      await readings.wait;
      return readings.answer;
    },
  });
  for (const url of ['/auth/api-key', '/auth/readonly-api-key', '/api/v1/agents/:id'])
    app.delete(url, async () => 'OK');
  app.delete('/auth/builder-api-key', async (_request, reply) => reply.code(404).send({}));
  app.post('/api/v1/agents/:id/rotate', async () => 'OK');
  app.post('/api/v1/agents/:id/resume', async () => 'OK');
  return { readings, app };
}

const deleteKey = { method: 'DELETE', url: '/auth/api-key' } as const;
const header = 'x-revocation-pending';

test('the answer to a revocation comes when every process has read it', async () => {
  const { readings, app } = openApp();
  let pass = () => {};
  readings.wait = new Promise((resolve) => {
    pass = resolve;
  });
  let isAnswered = false;
  const answer = app.inject(deleteKey).then((response) => {
    isAnswered = true;
    return response;
  });
  while (readings.asked === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(isAnswered).toBe(false);
  pass();
  const { statusCode, headers } = await answer;
  expect([statusCode, headers[header]]).toEqual([200, undefined]);
});

test('an answer names the processes that have not read it, and says when that is not known', async () => {
  const { readings, app } = openApp();
  readings.answer = ['query-api-1a', 'ingress-2b'];
  expect((await app.inject(deleteKey)).headers[header]).toBe('query-api-1a,ingress-2b');
  readings.answer = null;
  expect((await app.inject(deleteKey)).headers[header]).toBe('unknown');
});

test('every route that ends a key waits, a refused one and others do not', async () => {
  const { readings, app } = openApp();
  const askedBy = async (method: 'DELETE' | 'POST', url: string) => {
    const before = readings.asked;
    await app.inject({ method, url });
    return readings.asked - before;
  };
  expect(await askedBy('DELETE', '/auth/readonly-api-key')).toBe(1);
  expect(await askedBy('DELETE', '/api/v1/agents/1')).toBe(1);
  expect(await askedBy('POST', '/api/v1/agents/1/rotate')).toBe(1);
  expect(await askedBy('POST', '/api/v1/agents/1/resume')).toBe(0);
  expect(await askedBy('DELETE', '/auth/builder-api-key')).toBe(0);
});
