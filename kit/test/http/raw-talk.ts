import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/** One connection, spoken byte for byte. */
export interface RawTalk {
  send(bytes: string | Buffer): void;
  /**
   * Waits until what was answered since the last call holds `text`, and gives it so far. Rejects when the connection
   * ends first.
   */
  hears(text: string): Promise<string>;
  /** Everything that was answered, once the other side has ended the connection. */
  end(): Promise<string>;
  close(): void;
}

/** @param localAddress of this machine, from which it connects. */
export async function connectTo(
  { server }: { readonly server: Server },
  localAddress = '127.0.0.1',
): Promise<RawTalk> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  await once(socket, 'connect');
  let [heard, all] = ['', ''];
  let told = () => {};
  let failure: Error | null = null;
  socket.on('data', (bytes) => {
    heard += bytes.toString('latin1');
    all += bytes.toString('latin1');
    told();
  });
  socket.on('error', (error) => {
    failure = error;
  });
  socket.on('close', () => told());
  const until = (isThere: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      told = () => {
        if (isThere()) resolve();
        else if (socket.closed) reject(failure ?? new Error(`the connection ended: ${heard}`));
      };
      told();
    });
  return {
    send: (bytes) => void socket.write(bytes),
    async hears(text) {
      await until(() => heard.includes(text));
      const answer = heard;
      heard = '';
      return answer;
    },
    async end() {
      await until(() => socket.closed && failure === null);
      return all;
    },
    close: () => void socket.destroy(),
  };
}
