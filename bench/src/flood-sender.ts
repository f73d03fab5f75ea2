import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExchangeClient, noRetries } from '@pm/client';
import { serveParent } from './child/child.ts';
import type { FloodJob, FloodResult } from './flood/job.ts';
import type { HeldConnection } from './flood/kinds.ts';
import { sendFlood } from './flood/send-flood.ts';
import { Poster } from './latency/poster.ts';
import { signerOf } from './world/world.ts';

/** A flood at a fixed rate from one address, in a process of its own that gets the processor last. */
await serveParent(async (job: FloodJob) => {
  const work = async (): Promise<FloodResult> => {
    const poster = new Poster(job.url, { localAddress: job.localAddress });
    try {
      if (job.held !== null) return await sendFlood(job, heldBy(job, job.held));
      return await sendFlood(
        job,
        job.requests.length === 0 ? newKeyOf(job) : signedOf(job, poster),
      );
    } finally {
      poster.close();
    }
  };
  return { info: null, work };
});

type Send = (index: number) => Promise<string>;

function signedOf({ requests }: FloodJob, poster: Poster): Send {
  return async (index) => {
    const { key, ...sent } = requests[index % requests.length] ?? noRequest();
    const { status, body } = await poster.signed(key, sent);
    return status === 0 ? 'no answer' : wordOf(status, body);
  };
}

/** A connection that is kept until the end of the flood, unless the exchange ends it. */
function heldBy({ url, localAddress, seconds }: FloodJob, { bytes, isRead }: HeldConnection): Send {
  const { hostname: host, port } = new URL(url);
  const isOver = sleep(seconds * 1_000);
  return async () => {
    const socket = connect({ host, port: Number(port), localAddress });
    const isEnded = once(socket, 'close').then(
      () => 'ended',
      () => 'ended',
    );
    if (isRead) socket.resume();
    socket.write(bytes);
    const outcome = await Promise.race([isEnded, isOver.then(() => 'held')]);
    socket.destroy();
    return outcome;
  };
}

/** A key for a wallet that has none; from the address of this machine that nothing else of the run uses. */
function newKeyOf({ url, name }: FloodJob): Send {
  return async (index) => {
    const signer = signerOf(`${name} ${index}`);
    const client = new ExchangeClient({ baseUrl: url, signer, retry: noRetries });
    return await client.connect().then(
      () => '200',
      (error: { readonly status?: number }) => String(error.status ?? 'no answer'),
    );
  };
}

/** The status, and the code of a refusal. */
function wordOf(status: number, body: string): string {
  const code = status !== 200 ? /"code":"(\w+)"/.exec(body)?.[1] : undefined;
  return code === undefined ? String(status) : `${status} ${code}`;
}

function noRequest(): never {
  throw new RangeError('a flood has requests');
}
