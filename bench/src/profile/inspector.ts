import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Profile } from '../report/profile.ts';

/** Variables of a process whose inspector can be opened on a free port of the loopback address. */
export const inspectorVariables = { NODE_OPTIONS: '--inspect-port=127.0.0.1:0' } as const;

const waitMs = 10_000;
const pollMs = 50;

/** A thread of a process: its main one, or a worker. */
export interface Thread {
  readonly name: string;
  send(method: string, params?: object): Promise<unknown>;
}

export interface Inspector {
  readonly threads: readonly Thread[];
  close(): void;
}

/** Opens the inspector of a process by SIGUSR1; its address is in its log. Throws when it does not come. */
export async function openInspector(pid: number, logFile: string): Promise<Inspector> {
  process.kill(pid, 'SIGUSR1');
  const socket = new WebSocket(await inspectorUrl(logFile), { maxPayload: 1 << 30 });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const main = new Session('main thread', (text) => socket.send(text));
  const workers = new Map<string, Session>();
  socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as Message;
    main.receive(message);
    if (message.method === 'NodeWorker.attachedToWorker') attach(main, workers, message.params);
    if (message.method === 'NodeWorker.receivedMessageFromWorker')
      workers.get(message.params.sessionId)?.receive(JSON.parse(message.params.message));
  });
  await main.send('NodeWorker.enable', { waitForDebuggerOnStart: false });
  return { threads: [main, ...workers.values()], close: () => socket.close() };
}

interface Message {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
  readonly method?: string;
  readonly params: {
    readonly sessionId: string;
    readonly message: string;
    readonly workerInfo?: { readonly workerId: string; readonly title: string };
  };
}

function attach(
  main: Session,
  workers: Map<string, Session>,
  { sessionId, workerInfo }: Message['params'],
): void {
  const name = `worker ${workerInfo?.workerId ?? sessionId}`;
  const toWorker = (message: string) =>
    void main.send('NodeWorker.sendMessageToWorker', { sessionId, message });
  workers.set(sessionId, new Session(name, toWorker));
}

/** Requests to one thread and their responses. */
class Session implements Thread {
  readonly name: string;
  readonly #write: (text: string) => void;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #last = 0;

  constructor(name: string, write: (text: string) => void) {
    this.name = name;
    this.#write = write;
  }

  async send(method: string, params: object = {}): Promise<unknown> {
    this.#last += 1;
    const id = this.#last;
    const answered = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    this.#write(JSON.stringify({ id, method, params }));
    const { result, error } = await answered;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  receive(message: Message): void {
    if (message.id === undefined) return;
    this.#waiting.get(message.id)?.(message);
    this.#waiting.delete(message.id);
  }
}

async function inspectorUrl(logFile: string): Promise<string> {
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline) {
    const urls = readFileSync(logFile, 'utf8').matchAll(/Debugger listening on (ws:\S+)/g);
    const last = [...urls].at(-1)?.[1];
    if (last !== undefined) return last;
    await sleep(pollMs);
  }
  throw new Error(`no inspector was opened; ${logFile}`);
}

/** Begins to sample a thread. */
export async function beginProfile(thread: Thread, sampleMicroseconds: number): Promise<void> {
  await thread.send('Profiler.enable');
  await thread.send('Profiler.setSamplingInterval', { interval: sampleMicroseconds });
  await thread.send('Profiler.start');
}

export async function endProfile(thread: Thread): Promise<Profile> {
  return ((await thread.send('Profiler.stop')) as { readonly profile: Profile }).profile;
}
