import { asFault } from './kafkajs-errors.ts';

/** The result of a call of kafkajs; rejects with the faults of `asFault`. */
export async function withFaults<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw asFault(error);
  }
}
