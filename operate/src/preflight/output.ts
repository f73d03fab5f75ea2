import type { PreflightLine } from './run-preflight.ts';

const verdictWidth = 7;
const engineWidth = 11;
const needWidth = 44;

/** A line for people; of a `no` a second one says what to do and where that is explained. */
export function preflightText({ engine, need, page, ...judgement }: PreflightLine): string {
  const { verdict, line, todo } = judgement;
  const head = [
    verdict.padEnd(verdictWidth),
    engine.padEnd(engineWidth),
    need.padEnd(needWidth),
    line,
  ].join('  ');
  if (todo === undefined) return head;
  return `${head}\n${' '.repeat(verdictWidth + 2)}${todo} (docs/operating/${page})`;
}
