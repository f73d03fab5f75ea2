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
