/** Final fragment of a text message, without extensions. */
const finalText = 0x81;
const twoByteLength = 126;
const eightByteLength = 127;

/**
 * A payload as one WebSocket frame of a server that does not compress: RFC 6455, section 5.2. The payload is copied
 * behind its head, so that one piece is written for each reader.
 */
export function textFrame(payload: Buffer): Buffer {
  const { length } = payload;
  const headBytes = length < twoByteLength ? 2 : length <= 0xffff ? 4 : 10;
  const frame = Buffer.allocUnsafe(headBytes + length);
  frame[0] = finalText;
  if (headBytes === 2) frame[1] = length;
  else if (headBytes === 4) {
    frame[1] = twoByteLength;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = eightByteLength;
    frame.writeUInt32BE(0, 2);
    frame.writeUInt32BE(length, 6);
  }
  payload.copy(frame, headBytes);
  return frame;
}

/** Frames of payloads, made once for readers that get the same one after the other. */
export class TextFrames {
  #payload: Buffer | null = null;
  #frame: Buffer = Buffer.alloc(0);

  of(payload: Buffer): Buffer {
    if (payload !== this.#payload) {
      this.#frame = textFrame(payload);
      this.#payload = payload;
    }
    return this.#frame;
  }
}
