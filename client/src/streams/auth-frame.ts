import { type StreamProof, streamProofPath } from '@pm/schemas/streams/channels';
import { type KeyOfWallet, signedHeaders } from '../http.ts';

/**
 * The frame that proves an API key on one connection of `/v1/stream`, without its `id`: the proof covers the
 * connection, by the `stream_id` of its `welcome`, and the option, so it is worth nothing elsewhere (streams.md).
 */
export function authFrame(key: KeyOfWallet, proof: StreamProof, nowMs: number) {
  const signed = { method: 'GET', path: streamProofPath(proof), body: '' };
  return {
    op: 'auth',
    headers: signedHeaders(key, signed, nowMs),
    cancel_on_disconnect: proof.cancelOnDisconnect,
  } as const;
}
