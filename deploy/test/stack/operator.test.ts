import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openOperator } from '../../src/stack/operator.ts';

test('the tools send their token, and report a refusal', async () => {
  const received: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    received.push(request);
    response.writeHead(400).end('{"error":"/deposits/0/amount is no amount above 0"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const operator = openOperator(`http://127.0.0.1:${port}`, 'a token');
  await expect(operator.deposit([])).rejects.toThrow('/deposits/0/amount is no amount above 0');
  expect(received[0]?.headers).toMatchObject({ authorization: 'Bearer a token' });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test('an operator that gives no response is named, with the reason', async () => {
  const server = createServer((request) => request.socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/operator/catalog`;
  const imported = openOperator(`http://127.0.0.1:${port}`, 'a token').importEvents([]);
  await expect(imported).rejects.toThrow(`${url} gives no response (other side closed)`);
  await new Promise((resolve) => server.close(resolve));
});
