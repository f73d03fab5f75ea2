import { connect } from 'node:net';
import { loopback } from './ports.ts';

/** Timeout of one probe; the supervisor repeats it. */
const probeTimeoutMs = 2000;

/**
 * Sends bytes to a local port and returns the first bytes of the response. Rejects when there is none.
 */
export function askPort(port: number, question: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: loopback, timeout: probeTimeoutMs });
    const fail = (reason: string): void => {
      socket.destroy();
      reject(new Error(reason));
    };
    socket.once('connect', () => socket.write(question));
    socket.once('data', (answer) => {
      socket.destroy();
      resolve(answer);
    });
    socket.once('timeout', () => fail(`no response on port ${port}`));
    socket.once('error', (error) => fail(error.message));
    socket.once('close', () => fail(`port ${port} closed without a response`));
  });
}

/** Rejects unless a GET returns 200. */
export async function requireOk(url: string): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(probeTimeoutMs) });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${url} returns ${response.status}`);
}
