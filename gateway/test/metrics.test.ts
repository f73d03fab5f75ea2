import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openMetrics } from '@pm/kit/metrics';
import { openGateway } from '../src/gateway.ts';

const closedPort = 'http://127.0.0.1:9';

test('the gateway counts requests by route, and what it answers itself by target', async () => {
  const metrics = openMetrics('gateway');
  const services = { ingress: closedPort, 'query-api': closedPort };
  const gateway = openGateway(services, { metrics });
  await gateway.inject({ method: 'GET', url: '/book?token_id=1' });
  await gateway.inject({ method: 'GET', url: '/book?token_id=2' });
  await gateway.inject({ method: 'GET', url: '/no/such/path/at/all' });
  const text = await metrics.text();
  expect(text).toContain(
    'pm_gateway_refused_total{target="query-api",reason="unreachable",service="gateway"} 2',
  );
  expect(text).toContain('{method="GET",route="/book",status="503",service="gateway"} 2');
  expect(text).toContain('{method="GET",route="none",status="404",service="gateway"} 1');
  expect(text).toContain('pm_gateway_requests_waiting{group="orders",service="gateway"} 0');
  expect(text).not.toContain('such');
  await gateway.close();
});

test('the gateway counts requests that a service works on', async () => {
  let answer = () => {};
  const service = createServer((_request, response) => {
    answer = () => response.end('{}');
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const metrics = openMetrics('gateway');
  const gateway = openGateway({ ingress: url, 'query-api': url }, { metrics });
  const asked = once(service, 'request');
  const response = gateway.inject({ method: 'GET', url: '/book?token_id=1' });
  await asked;
  const running = /pm_gateway_requests_running\{group="reads"[^}]*\} 1/;
  expect(await metrics.text()).toMatch(running);
  answer();
  await response;
  expect(await metrics.text()).not.toMatch(running);
  await gateway.close();
  service.close();
});
