import type { Duplex } from 'node:stream';
import { endedForMs, endSocket, refuseUpgrade } from '@pm/kit/listener';
import { streamCloses } from '@pm/schemas/streams/codes';
import { FrameEnds } from './frame-ends.ts';

/** An unmasked frame of a server, with the code and the reason (RFC 6455 5.5.1). */
const closeFrame = closeFrameOf(streamCloses.shutdown);

/** The response to an upgrade meanwhile. */
export const restarting = { status: 503, error: 'the gateway restarts' } as const;

function closeFrameOf({
  code,
  reason,
}: {
  readonly code: number;
  readonly reason: string;
}): Buffer {
  const payload = Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]);
  return Buffer.concat([Buffer.from([0x88, payload.length]), payload]);
}

/** The client of a stream that is forwarded, and what it has got of the service. */
export class ClientStream {
  readonly socket: Duplex;
  readonly #ends = new FrameEnds();
  #isJoined = false;
  #isLeaving = false;
  #hasLeft = false;

  constructor(socket: Duplex) {
    this.socket = socket;
  }

  /** The service has accepted the upgrade. */
  joined(): void {
    this.#isJoined = true;
  }

  /** Writes what the service sends. Returns whether more may be read at once. */
  write(bytes: Buffer): boolean {
    if (this.#hasLeft) return true;
    const end = this.#ends.take(bytes);
    if (!this.#isLeaving || end < 0) return this.socket.write(bytes);
    this.socket.write(bytes.subarray(0, end));
    this.#end();
    return true;
  }

  /** Closes the stream, between two frames, as a service that restarts does: the client comes back elsewhere. */
  leave(): void {
    if (this.#isLeaving || this.socket.destroyed || this.socket.writableEnded) return;
    this.#isLeaving = true;
    if (!this.#isJoined) {
      this.#hasLeft = true;
      refuseUpgrade(this.socket, restarting);
    } else if (this.#ends.isBetween) this.#end();
    else setTimeout(() => this.#hasLeft || this.socket.destroy(), endedForMs).unref();
  }

  #end(): void {
    this.#hasLeft = true;
    this.socket.write(closeFrame);
    endSocket(this.socket);
  }
}
