import { reactionTo } from '@pm/kit/fault';

/** The answer of a store; null when it is away. Other faults are thrown on. */
export async function unlessAway<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (reactionTo(error) !== 'retry') throw error;
    return null;
  }
}
