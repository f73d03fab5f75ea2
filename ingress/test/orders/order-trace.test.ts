import { produceSpanOf } from '@pm/domain/traces/order-traces';
import { openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import type { FinishedSpan } from '@pm/kit/traces';
import type { OrderId } from '@pm/schemas/ids';
import { addPublicRoutes } from '../../src/http/public.route.ts';
import { OrderTraces } from '../../src/orders/order-trace.io.ts';
import {
  type IngressUnderTest,
  openIngress,
  placeOne,
  restsAs,
  signedItem,
  testOrder,
} from '../ingress-fixture.ts';

const sequence = 42;

let ingress: IngressUnderTest;
beforeEach(async () => {
  ingress = await openIngress();
});
afterEach(() => ingress.app.close());

/** Opens the routes of the ingress with traces of orders and requests. */
async function openTraced(share: number) {
  const spans: FinishedSpan[] = [];
  const traces = { share, add: (span: FinishedSpan) => spans.push(span) };
  const { orders } = ingress.services;
  const app = openHttp({ log: silentLog, bodyLimitBytes: 256 * 1024, traces });
  const commands: typeof orders.commands = {
    run: async (partition, command, waiting) => {
      waiting?.onDurable?.({ sequence, startedMs: 1, endedMs: 2 });
      return await orders.commands.run(partition, command);
    },
  };
  const services = { ...orders, commands, orderTraces: new OrderTraces(traces) };
  addPublicRoutes(app, { ...ingress.services, orders: services });
  await app.ready();
  return { spans, traced: { ...ingress, app } as IngressUnderTest };
}

test('an order has a span of its own, one of each stage and one of its envelope', async () => {
  const { spans, traced } = await openTraced(1);
  const { body } = await placeOne(traced, signedItem(testOrder()).item);
  const orderId = body.orderID as OrderId;
  const traceId = orderId.slice(-32);
  const own = spans.filter((span) => span.traceId === traceId);
  const root = own.find(({ parentId }) => parentId === null);
  expect(root).toMatchObject({ name: 'order', attributes: { 'pm.order.id': orderId } });
  expect(root?.attributes?.['pm.outcome']).toBe('live');
  expect(own.map(({ name, parentId }) => [name, parentId])).toEqual([
    ['authenticate', root?.spanId],
    ['check', root?.spanId],
    ['reserve', root?.spanId],
    ['produce', root?.spanId],
    ['result', root?.spanId],
    ['order', null],
  ]);
  const produced = own.find(({ name }) => name === 'produce');
  expect(produced).toMatchObject(produceSpanOf({ orderId, traceId }, sequence));
  const request = spans.find(({ name }) => name === 'POST /order');
  expect(request?.links).toEqual([{ traceId, spanId: root?.spanId }]);
  expect(root?.links).toEqual([expect.objectContaining({ spanId: request?.spanId })]);
  await traced.app.close();
});

test('an order that is refused by the log has its refusal as the outcome', async () => {
  const { spans, traced } = await openTraced(1);
  ingress.fakes.answer = () => ({ kind: 'pending' });
  await placeOne(traced, signedItem(testOrder()).item);
  ingress.fakes.answer = restsAs;
  const root = spans.find(({ name }) => name === 'order');
  expect(root?.attributes?.['pm.outcome']).toBe('order_unconfirmed');
  await traced.app.close();
});

test('an order that is not in the share has no span', async () => {
  const { spans, traced } = await openTraced(0);
  expect((await placeOne(traced, signedItem(testOrder()).item)).status).toBe(200);
  expect(spans).toEqual([]);
  await traced.app.close();
});
