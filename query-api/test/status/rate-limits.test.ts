import { apiKey, get, openListener, World, wallet } from '../in-memory.ts';

test('GET /rate-limits is for a proven key, else for the address, and 401 for a bad proof', async () => {
  const world = new World();
  const app = openListener(world);
  expect((await get(app, '/rate-limits')).body).toMatchObject({ caller: 'address' });
  world.caller = { apiKey: apiKey(1), wallet: wallet(1) };
  const signed = { service_api_key: apiKey(1) };
  expect((await get(app, '/rate-limits', signed)).body).toMatchObject({ caller: 'key' });
  world.caller = null;
  expect((await get(app, '/clob/rate-limits', signed)).status).toBe(401);
});
