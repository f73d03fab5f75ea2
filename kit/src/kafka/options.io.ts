import type { Log } from '../log/index.ts';
import type { LogClientLimits } from './limits.ts';

/** How to reach the log. */
export interface LogClientOptions {
  /** `host:port` of one or more brokers; the others are learnt from these. */
  readonly brokers: readonly string[];
  /** Name the brokers log for this client. */
  readonly clientId: string;
  readonly log: Log;
  readonly limits?: Partial<LogClientLimits>;
  /** TLS; absent means plain text. PEM texts. */
  readonly ssl?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly sasl?: {
    readonly mechanism: 'plain';
    readonly username: string;
    readonly password: string;
  };
  /** Where to connect instead of an advertised address: for port forwards, and for faults in tests. */
  route?(address: { host: string; port: number }): { host: string; port: number };
}
