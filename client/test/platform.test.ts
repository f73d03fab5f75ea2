/** @jest-environment node */
import { base64Bytes, hmacText, randomId } from '../src/platform.ts';

test('the HMAC of a browser is that of Node', async () => {
  const secret = base64Bytes('-_8AAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0=');
  const byNode = hmacText(secret, 'GET/v1/stream ä');
  const original = Object.getOwnPropertyDescriptor(globalThis, 'process');
  Object.defineProperty(globalThis, 'process', { value: undefined, configurable: true });
  try {
    jest.resetModules();
    const browser = await import('../src/platform.ts');
    expect(browser.hmacText(secret, 'GET/v1/stream ä')).toBe(byNode);
  } finally {
    if (original !== undefined) Object.defineProperty(globalThis, 'process', original);
  }
});

test('random ids are UUIDs of version 4', () => {
  const ids = new Set(Array.from({ length: 50 }, randomId));
  expect(ids.size).toBe(50);
  for (const id of ids)
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
});
