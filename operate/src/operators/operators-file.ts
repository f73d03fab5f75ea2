import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { StackError } from '@pm/deploy/local/stack-error';
import { writeOperators } from '@pm/deploy/setup/operators';
import { hashOfToken, problemIn } from '@pm/domain/operators/operators';
import { OperatorEntry, OperatorsFile } from '@pm/schemas/operators';
import { Value } from 'typebox/value';

const tokenBytes = 32;

/** Adds an operator and returns its token, which is stored nowhere. Throws a `StackError` that says what is wrong. */
export function addOperator(
  file: string,
  asked: { readonly name: string; readonly roles: readonly string[]; readonly expiresAt?: string },
): string {
  const token = randomBytes(tokenBytes).toString('hex');
  const entry = { ...asked, tokenSha256: hashOfToken(token) };
  if (!Value.Check(OperatorEntry, entry)) throw wrong(firstError(OperatorEntry, entry));
  write(file, [...readOperators(file), entry]);
  return token;
}

/** Throws a `StackError` when there is no such operator. */
export function removeOperator(file: string, name: string): void {
  const known = readOperators(file);
  const left = known.filter((one) => one.name !== name);
  if (left.length === known.length) throw wrong(`there is no operator ${name} in ${file}`);
  write(file, left);
}

/** A line for each operator: name, roles, end. */
export function shownOperators(file: string, nowMs: number): readonly string[] {
  return readOperators(file).map(({ name, roles, expiresAt }) => {
    if (expiresAt === undefined) return `${name}  ${roles.join(',')}`;
    const isOver = Date.parse(expiresAt) <= nowMs;
    return `${name}  ${roles.join(',')}  ${isOver ? 'expired' : 'until'} ${expiresAt}`;
  });
}

function readOperators(file: string): readonly OperatorEntry[] {
  if (!existsSync(file)) return [];
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!Value.Check(OperatorsFile, value))
    throw wrong(`${file}: ${firstError(OperatorsFile, value)}`);
  return value.operators;
}

function write(file: string, operators: readonly OperatorEntry[]): void {
  const next = { operators: [...operators] };
  const problem = Value.Check(OperatorsFile, next)
    ? problemIn(next)
    : firstError(OperatorsFile, next);
  if (problem !== null) throw wrong(problem);
  writeOperators(file, next);
}

function firstError(schema: typeof OperatorEntry | typeof OperatorsFile, value: unknown): string {
  const [first] = Value.Errors(schema, value);
  return `${first?.instancePath ?? ''} ${first?.message ?? ''}`;
}

function wrong(text: string): StackError {
  return new StackError('BAD_DESCRIPTION', text);
}
