import { crc32 } from 'node:zlib';
import { openHttp } from '../../src/http/open.io.ts';
import { RepeatedBodies } from '../../src/http/repeated-bodies.ts';
import { silentLog } from '../../src/log/index.ts';

const bytesOf = (index: number) => Buffer.from(String(index).padStart(800, '0'));

function twice(bodies: RepeatedBodies, bytes: Buffer, value: unknown): void {
  for (let time = 0; time < 2; time += 1) bodies.offer(crc32(bytes), bytes, value);
}

describe('repeated bodies', () => {
  it('are bounded, and the newest stay', () => {
    const bodies = new RepeatedBodies(10_000);
    const found = (index: number) => bodies.find(crc32(bytesOf(index)), bytesOf(index));
    for (let index = 0; index < 1_000; index += 1) {
      twice(bodies, bytesOf(index), index);
      expect([found(index), bodies.size <= 20]).toEqual([index, true]);
    }
    expect([found(999), found(979)]).toEqual([999, undefined]);
  });

  it('stay as long as they come again', () => {
    const bodies = new RepeatedBodies(10_000);
    const often = Buffer.alloc(800, 'x');
    twice(bodies, often, 'often');
    for (let index = 0; index < 100; index += 1) {
      twice(bodies, bytesOf(index), index);
      expect(bodies.find(crc32(often), often)).toBe('often');
    }
  });

  it('are kept from the second time on, and not when they are larger than the memory', () => {
    const bodies = new RepeatedBodies(1_000);
    for (let index = 0; index < 20_000; index += 1) bodies.offer(index, bytesOf(index), index);
    expect(bodies.size).toBe(0);
    twice(bodies, Buffer.alloc(900), 1);
    expect(bodies.size).toBe(0);
  });

  it('are equal in every byte, whatever their sums', () => {
    const bodies = new RepeatedBodies();
    const [one, other] = [bytesOf(1), bytesOf(2)];
    for (let time = 0; time < 2; time += 1) bodies.offer(7, one, 1);
    expect([bodies.find(7, one), bodies.find(7, other)]).toEqual([1, undefined]);
    bodies.offer(7, other, 2);
    expect([bodies.find(7, one), bodies.find(7, other)]).toEqual([undefined, 2]);
  });

  it('are one value for equal bytes, with the bytes and the checks of each request', async () => {
    const app = openHttp({ log: silentLog, bodyLimitBytes: 1_024 });
    const seen: unknown[] = [];
    for (const [url, repeatsBodies] of [
      ['/again', true],
      ['/each', false],
    ] as const)
      app.post(url, { config: { repeatsBodies } }, async ({ body, rawBody }) => {
        seen.push(body);
        return rawBody.toString();
      });
    const send = (url: string, payload: string, type = 'application/json') =>
      app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload });
    const text = '[{"name":"é"}]';
    for (const url of ['/again', '/again', '/again', '/each', '/each'])
      expect((await send(url, text)).body).toBe(text);
    expect(seen).toEqual([1, 2, 3, 4, 5].map(() => [{ name: 'é' }]));
    expect([seen[1] === seen[2], seen[3] === seen[4]]).toEqual([true, false]);
    expect((await send('/again', text, 'text/plain')).statusCode).toBe(415);
    for (const broken of ['[', `${'['.repeat(200)}${']'.repeat(200)}`])
      for (let time = 0; time < 2; time += 1)
        expect((await send('/again', broken)).statusCode).toBe(400);
  });
});
