import {
  authFrame,
  ExchangeClient,
  type Heartbeat,
  type Signer,
  type TypedDataSigner,
} from '@pm/client';
import type { OpenOrder } from '@pm/schemas/http/private-reading';
import type { ResponseOf } from '@pm/schemas/routes/routes';
import { signal } from '@preact/signals';
import { getJson, origin, textOf } from '../api.ts';
import { followOwn } from '../live/follow.ts';
import { stream } from '../live/stream.ts';
import { openAfterCancel } from './open-after-cancel.ts';
import { pinDomain } from './pin-domain.ts';
import { connectBrowserWallet, testWallet, testWalletNames } from './wallets.ts';

/** A wallet that trades. */
export interface Session {
  readonly name: string;
  readonly address: string;
  readonly client: ExchangeClient;
}

type Position = ResponseOf<'listPositions'>[number];

export const session = signal<Session | null>(null);
export const isConnecting = signal(false);
export const openOrders = signal<readonly OpenOrder[]>([]);
export const positions = signal<readonly Position[]>([]);
/** Free USDC, decimal text; null until it is known. */
export const cash = signal<{ readonly free: string; readonly held: string } | null>(null);
/** State of the heartbeat: off, beating with a count, or missed. */
export const heartbeat = signal<{
  readonly state: 'off' | 'on' | 'missed';
  readonly beats: number;
}>({
  state: 'off',
  beats: 0,
});

/** A line for the person, newest last. */
export interface Notice {
  readonly id: number;
  readonly kind: 'good' | 'bad';
  readonly text: string;
}
export const notices = signal<readonly Notice[]>([]);

let noticeCount = 0;
const noticeMs = 6_000;

export function notify(kind: Notice['kind'], text: string): void {
  noticeCount += 1;
  const id = noticeCount;
  notices.value = [...notices.value.slice(-3), { id, kind, text }];
  setTimeout(() => {
    notices.value = notices.value.filter((notice) => notice.id !== id);
  }, noticeMs);
}

const storedWallet = 'console.wallet';
let stopFollowing: (() => void) | null = null;
let beating: Heartbeat | null = null;

/** Connects a test wallet and remembers its number for the next visit. */
export async function useTestWallet(index: number): Promise<void> {
  await connect(testWalletNames[index] ?? '', async () => testWallet(index));
  localStorage.setItem(storedWallet, String(index));
}

export async function useBrowserWallet(): Promise<void> {
  const ask = (question: string) => window.confirm(question);
  const check = (client: ExchangeClient) => pinDomain(client, localStorage, ask);
  await connect('Browser wallet', connectBrowserWallet, check);
  localStorage.removeItem(storedWallet);
}

/** The test wallet of the last visit. */
export function resumeWallet(): void {
  const stored = localStorage.getItem(storedWallet);
  if (stored !== null && Number(stored) < testWalletNames.length)
    void useTestWallet(Number(stored));
}

export async function disconnect(): Promise<void> {
  localStorage.removeItem(storedWallet);
  await endSession();
}

async function connect(
  name: string,
  open: () => Promise<Signer | TypedDataSigner>,
  check: (client: ExchangeClient) => Promise<void> = async () => {},
): Promise<void> {
  isConnecting.value = true;
  try {
    const signer = await open();
    const client = new ExchangeClient({ baseUrl: origin, signer });
    await check(client);
    const trio = await client.connect();
    await endSession();
    session.value = { name, address: signer.checksummed, client };
    const key = { ...trio, address: signer.checksummed };
    stream.authenticate((streamId, nowMs) =>
      authFrame(key, { streamId, cancelOnDisconnect: false }, nowMs),
    );
    stopFollowing = followOwn(readOwn);
  } catch (error) {
    notify('bad', `The wallet could not be connected: ${textOf(error)}`);
  } finally {
    isConnecting.value = false;
  }
}

async function endSession(): Promise<void> {
  if (session.value === null) return;
  await stopHeartbeat();
  stopFollowing?.();
  stopFollowing = null;
  stream.authenticate(null);
  session.value = null;
  openOrders.value = [];
  positions.value = [];
  cash.value = null;
}

const ordersShownMax = 200;

/** Reads everything of the wallet again. */
export async function readOwn(): Promise<void> {
  const current = session.value;
  if (current === null) return;
  const [orders, balances, held] = await Promise.allSettled([
    newestOrders(current.client),
    current.client.own.balances(),
    getJson<readonly Position[]>('/positions', {
      user: current.address,
      limit: 100,
      sizeThreshold: 0,
    }),
  ]);
  if (session.value !== current) return;
  if (orders.status === 'fulfilled') openOrders.value = orders.value;
  if (held.status === 'fulfilled') positions.value = held.value;
  const own = balances.status === 'fulfilled' ? balances.value[0] : undefined;
  if (own !== undefined) cash.value = { free: own.usdc.available, held: own.usdc.held };
}

async function newestOrders(client: ExchangeClient): Promise<readonly OpenOrder[]> {
  const orders: OpenOrder[] = [];
  for await (const order of client.own.openOrders()) {
    orders.push(order);
    if (orders.length >= ordersShownMax) break;
  }
  return orders;
}

export async function cancelOrder(id: string): Promise<void> {
  await carryOut('The order is canceled.', async ({ client }) => {
    const { not_canceled } = await client.cancelOrder(id);
    const [reason] = Object.values(not_canceled);
    if (reason !== undefined) throw new Error(reason);
  });
}

export async function cancelAll(): Promise<void> {
  await carryOut('All orders are canceled.', async ({ client }) => {
    const open = openAfterCancel(await client.cancelAll());
    if (open !== null) throw new Error(open);
  });
}

async function carryOut(done: string, action: (session: Session) => Promise<void>): Promise<void> {
  const current = session.value;
  if (current === null) return;
  try {
    await action(current);
    notify('good', done);
  } catch (error) {
    notify('bad', textOf(error));
  }
  await readOwn();
}

/** From the first heartbeat on, closing the page cancels the orders of the key. */
export async function startHeartbeat(): Promise<void> {
  const current = session.value;
  if (current === null || beating !== null) return;
  const opened = current.client.startHeartbeat({
    onMiss: () => {
      heartbeat.value = { ...heartbeat.value, state: 'missed' };
      notify('bad', 'A heartbeat was missed: open orders were canceled.');
    },
    onError: (error, isOver) => {
      if (!isOver) return;
      notify('bad', `The heartbeat has ended: ${textOf(error)}`);
      void stopHeartbeat();
    },
  });
  beating = opened;
  const timer = setInterval(() => {
    if (beating !== opened) return clearInterval(timer);
    heartbeat.value = {
      state: heartbeat.value.state === 'missed' ? 'missed' : 'on',
      beats: opened.beats,
    };
  }, 1_000);
  // A start that fails has been said.
  await opened.started().catch(() => undefined);
}

export async function stopHeartbeat(): Promise<void> {
  const running = beating;
  beating = null;
  heartbeat.value = { state: 'off', beats: 0 };
  await running?.stop();
}
