import { createHmac } from 'node:crypto';

/** Hex digits of a name: 64 bits. */
const nameChars = 16;

/**
 * The public name of a resting order, at level 3 of a book and in the channel `orders` of streams: the same for as long
 * as it rests, and of no meaning to those who know ids of orders. `secret`: 32 bytes of the installation.
 */
export function orderName(secret: Buffer, conditionId: string, orderId: Buffer): string {
  return createHmac('sha256', secret)
    .update(`resting order|${conditionId}|`)
    .update(orderId)
    .digest('hex')
    .slice(0, nameChars);
}
