import type { StreamChannel } from '@pm/schemas/streams/channels';
import type { MessagePosition, PublicMessage } from '@pm/schemas/streams/messages';
import type { OwnMessage } from '@pm/schemas/streams/own-messages';
import type { ServerFrame } from '@pm/schemas/streams/server-frames';

/** Messages of the public channels. */
export type BookMessage = PublicMessage<
  'BookSnapshotMessage' | 'BookDeltaMessage' | 'BookChecksumMessage'
>;
export type BestMessage = PublicMessage<'BestSnapshotMessage' | 'BestDeltaMessage'>;
export type OrdersMessage = PublicMessage<'OrdersSnapshotMessage' | 'OrdersDeltaMessage'>;
export type TradeMessage = PublicMessage<'TradeMessage'>;
export type MarketsMessage = PublicMessage<'MarketsSnapshotMessage' | 'MarketsEventMessage'>;
export type ActivityMessage = PublicMessage<'ActivityMessage'>;
export type CommentMessage = PublicMessage<'CommentMessage'>;

/** Messages of the channel `own`. Those of the type `state` have no `seq`: the newest one holds. */
export type OwnEvent = OwnMessage<
  | 'OwnSnapshotMessage'
  | 'OwnOrderMessage'
  | 'OwnFillMessage'
  | 'OwnBalanceMessage'
  | 'OwnPositionMessage'
  | 'OwnTransfersMessage'
  | 'OwnSessionMessage'
>;

/** A data message as sequences see it; its payload depends on the channel. */
export interface DataFrame {
  readonly type: 'snapshot' | 'delta' | 'event' | 'checksum';
  readonly channel: StreamChannel;
  readonly market?: string;
  readonly token?: string;
  readonly event?: string;
  readonly seq: number;
  readonly prev?: number;
  readonly at: MessagePosition;
  readonly gap?: true;
  /** Number of the part in a snapshot in several parts. */
  readonly part?: number;
  readonly more?: true;
}

/** A message without a sequence. */
export interface StateFrame {
  readonly type: 'state';
  readonly channel: 'own';
}

export type StreamFrame = ServerFrame | DataFrame | StateFrame;

/** A frame of the server; null for any other text. */
export function parseFrame(text: string): StreamFrame | null {
  try {
    const frame: unknown = JSON.parse(text);
    const type = (frame as { type?: unknown } | null)?.type;
    return typeof type === 'string' ? (frame as StreamFrame) : null;
  } catch {
    return null;
  }
}
