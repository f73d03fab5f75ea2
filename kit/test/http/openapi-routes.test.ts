import { createHash } from 'node:crypto';
import { openHttp } from '../../src/http/open.io.ts';
import { descriptionRoutes } from '../../src/http/openapi-routes.io.ts';
import { silentLog } from '../../src/log/index.ts';
import { openApiDocument } from '../../src/openapi/index.ts';

const app = openHttp({ log: silentLog, bodyLimitBytes: 100 });
for (const { path, add } of descriptionRoutes()) {
  add(app, { url: path, mount: null, dialect: 'specification' });
}
afterAll(() => app.close());

test('openapi.json is the document of the declarations', async () => {
  const answer = await app.inject('/openapi.json');
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.json()).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
});

test('a client that has the document is answered without it', async () => {
  const { headers } = await app.inject('/openapi.json');
  const again = await app.inject({
    url: '/openapi.json',
    headers: { 'if-none-match': String(headers.etag) },
  });
  expect([again.statusCode, again.body]).toEqual([304, '']);
});

test('the page runs its own script and style only, and loads nothing from other servers', async () => {
  const { body, headers } = await app.inject('/docs');
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(body).not.toMatch(/https?:|src=|@import|innerHTML/);
  for (const kind of ['script', 'style']) {
    const [, text = ''] = new RegExp(`<${kind}>([\\s\\S]*)</${kind}>`).exec(body) ?? [];
    const digest = createHash('sha256').update(text).digest('base64');
    expect(String(headers['content-security-policy'])).toContain(`${kind}-src 'sha256-${digest}'`);
  }
});

test('the script is sound', async () => {
  const { body } = await app.inject('/docs');
  const [, script = ''] = /<script>([\s\S]*)<\/script>/.exec(body) ?? [];
  expect(() => new Function(script)).not.toThrow();
});
