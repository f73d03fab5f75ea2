import { Fault } from '@pm/kit/fault';

const code = 'limits_full';

/** The store has no room to count a caller; the others are counted on. */
export function limitsFull(): Fault {
  return new Fault(code, 'retry');
}

export function isLimitsFull(error: unknown): boolean {
  return error instanceof Fault && error.code === code;
}
