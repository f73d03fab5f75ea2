import { streamChannelNames } from '@pm/schemas/streams/channels';
import {
  type ClientFrame,
  type ClientFrameOp,
  clientFrames,
} from '@pm/schemas/streams/client-frames';
import type { StreamErrorCode } from '@pm/schemas/streams/codes';
import { Compile } from 'typebox/compile';

/** A frame that has no meaning; `id` is that of the frame where one can be read. */
export interface WrongFrame {
  readonly op: null;
  readonly id: number | null;
  readonly code: StreamErrorCode;
}

const checkers = {
  subscribe: Compile(clientFrames.subscribe),
  unsubscribe: Compile(clientFrames.unsubscribe),
  auth: Compile(clientFrames.auth),
  checksum: Compile(clientFrames.checksum),
  ping: Compile(clientFrames.ping),
} as const satisfies Readonly<Record<ClientFrameOp, unknown>>;

/** Reads a text frame; the bound of its size is that of the connection. */
export function readFrame(text: string): ClientFrame | WrongFrame {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { op: null, id: null, code: 'not_json' };
  }
  const id = idOf(value);
  const op: unknown = Reflect.get(value, 'op');
  if (typeof op !== 'string' || !Object.hasOwn(checkers, op)) {
    return { op: null, id, code: 'unknown_op' };
  }
  if (checkers[op as ClientFrameOp].Check(value)) return value as ClientFrame;
  return { op: null, id, code: isChannelUnknown(value) ? 'unknown_channel' : 'invalid_frame' };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function idOf(value: object): number | null {
  const id: unknown = Reflect.get(value, 'id');
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id : null;
}

function isChannelUnknown(value: object): boolean {
  const channel: unknown = Reflect.get(value, 'channel');
  return typeof channel === 'string' && !streamChannelNames.some((name) => name === channel);
}
