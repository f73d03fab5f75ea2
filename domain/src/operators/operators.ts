import { createHash, timingSafeEqual } from 'node:crypto';
import type { OperatorEntry, OperatorRole, OperatorsFile } from '@pm/schemas/operators';

/** SHA-256 of a token as text, hex: all that is stored of it. */
export function hashOfToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}

/** First error in a file of operators that its schema cannot express; null when there is none. */
export function problemIn({ operators }: OperatorsFile): string | null {
  const [names, hashes] = [new Set<string>(), new Set<string>()];
  for (const { name, tokenSha256, expiresAt } of operators) {
    if (names.has(name)) return `two operators are called ${name}`;
    if (hashes.has(tokenSha256)) return `the token of ${name} is that of another operator`;
    if (expiresAt !== undefined && Number.isNaN(Date.parse(expiresAt)))
      return `expiresAt of ${name} is no time`;
    names.add(name);
    hashes.add(tokenSha256);
  }
  return null;
}

/** The operator whose token it is, unless it has expired; the time it takes says nothing of the stored hashes. */
export function operatorOf(
  token: string,
  operators: readonly OperatorEntry[],
  nowMs: number,
): OperatorEntry | null {
  const hash = Buffer.from(hashOfToken(token), 'hex');
  let found: OperatorEntry | null = null;
  for (const one of operators) {
    if (timingSafeEqual(hash, Buffer.from(one.tokenSha256, 'hex'))) found = one;
  }
  if (found?.expiresAt !== undefined && Date.parse(found.expiresAt) <= nowMs) return null;
  return found;
}

/** Whether an operator with these roles may use a route of this role: every operator reads, admin does all. */
export function mayUse(roles: readonly OperatorRole[], role: OperatorRole): boolean {
  return role === 'viewer' || roles.includes(role) || roles.includes('admin');
}
