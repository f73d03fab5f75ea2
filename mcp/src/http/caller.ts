import { headers as names } from '@pm/schemas/signing';

/** Who calls `/mcp`, as the headers say. */
export interface Caller {
  /** Null without one. */
  readonly agentKey: string | null;
  readonly reader: { readonly address: string; readonly readOnlyKey: string } | null;
}

type RawHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const agentBearer = /^Bearer +(pro_[A-Za-z0-9_-]{32})$/i;
const addressForm = /^0x[0-9a-fA-F]{40}$/;
const readOnlyKeyMaxChars = 200;

/**
 * The caller; null when `Authorization` is there and is no agent key. Whether the exchange knows the keys is for the
 * exchange to say.
 */
export function callerOf(given: RawHeaders): Caller | null {
  const { authorization } = given;
  const agentKey = agentBearer.exec(String(authorization ?? ''))?.[1] ?? null;
  if (authorization !== undefined && agentKey === null) return null;
  const address = given[names.address.toLowerCase()];
  const readOnlyKey = given[names.readOnlyKey.toLowerCase()];
  const isReader =
    typeof address === 'string' &&
    addressForm.test(address) &&
    typeof readOnlyKey === 'string' &&
    readOnlyKey !== '' &&
    readOnlyKey.length <= readOnlyKeyMaxChars;
  return { agentKey, reader: isReader ? { address, readOnlyKey } : null };
}
