import type { Admin, Kafka } from 'kafkajs';
import { within } from '../fault/index.ts';
import { retryOptions } from './kafkajs-connection.io.ts';
import { NoResponse } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import { closeWithin } from './waiting.io.ts';
import { withFaults } from './with-faults.io.ts';

/**
 * An admin of kafkajs, connected, whose calls reject with faults in place of the errors of kafkajs. Each has a limit of
 * ours, `log_away` (retry) afterwards: kafkajs times its requests out by the wall clock, and a lost answer would be
 * waited for as long as that is set back.
 */
export async function connectAdmin(kafka: Kafka, limits: LogClientLimits): Promise<Admin> {
  const admin = kafka.admin({ retry: retryOptions(limits) });
  const connecting = admin.connect();
  try {
    await inTime(connecting, limits);
    return boundedAdmin(admin, limits);
  } catch (error) {
    // A late one may still come to a connection.
    const closing = connecting.catch(() => {}).then(() => admin.disconnect());
    await closeWithin(closing, limits.closeTimeoutMs);
    throw error;
  }
}

function boundedAdmin(admin: Admin, limits: LogClientLimits): Admin {
  return new Proxy(admin, {
    get(target, name): unknown {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        const result: unknown = Reflect.apply(member, target, args);
        return result instanceof Promise ? inTime(result, limits) : result;
      };
    },
  });
}

/** A call with all its tries, each of which kafkajs ends after `requestTimeoutMs`. */
function inTime<T>(
  call: Promise<T>,
  { sendTimeoutMs, requestTimeoutMs }: LogClientLimits,
): Promise<T> {
  const late = () => new NoResponse('no answer');
  return withFaults(within(call, sendTimeoutMs + requestTimeoutMs, late));
}
