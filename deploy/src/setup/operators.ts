import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hashOfToken } from '@pm/domain/operators/operators';
import type { OperatorsFile } from '@pm/schemas/operators';
import { replaceFile } from '../local/replace-file.ts';
import type { ExchangeKeys } from './keys.ts';

/** Name of the first operator of a data folder, whose token is in its keys. */
export const firstOperatorName = 'local';

export function operatorsFileIn(dataDir: string): string {
  return join(dataDir, 'operators.json');
}

/**
 * Makes the file of operators of a data folder, with one that may do everything. A file that is there stays as it is:
 * that operator may have been removed.
 */
export function makeFirstOperator(
  dataDir: string,
  { operatorToken }: Pick<ExchangeKeys, 'operatorToken'>,
): { readonly file: string; readonly isNew: boolean } {
  const file = operatorsFileIn(dataDir);
  if (existsSync(file)) return { file, isNew: false };
  const tokenSha256 = hashOfToken(operatorToken);
  writeOperators(file, {
    operators: [{ name: firstOperatorName, roles: ['admin'], tokenSha256 }],
  });
  return { file, isNew: true };
}

/** Replaces the file at once, readable by its owner only. */
export function writeOperators(file: string, operators: OperatorsFile): void {
  replaceFile(file, `${JSON.stringify(operators, null, 2)}\n`);
}
