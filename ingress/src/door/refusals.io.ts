import { reactionTo } from '@pm/kit/fault';

/** The result of a store; null when it is unavailable for a moment. Throws all other faults. */
export async function unlessUnavailable<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (reactionTo(error) !== 'retry') throw error;
    return null;
  }
}
