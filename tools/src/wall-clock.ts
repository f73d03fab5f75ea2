import type { Problem } from './purity.ts';
import {
  memberOf,
  nameOf,
  nodeIn,
  parseTypeScript,
  type Syntax,
  type SyntaxNode,
  walk,
} from './syntax.ts';

/** Rooms whose programs go on when the clock of their machine is set. */
const judged =
  /^(kit|domain|ingress|operator|matcher|projectors|query-api|streams|gateway|deploy|operate|mcp)\/src\/.*\.ts$/;

const differences = new Set(['-', '<', '<=', '>', '>=']);

/**
 * Uses of the wall clock that a step of it breaks: `Date` read outside of `@pm/kit/clock`, and readings of `nowMs()`
 * that are subtracted or compared. Intervals, leases and ages take `monotonicMs()`; wall time is content of records,
 * responses and signatures.
 */
export function wallClockProblems(path: string, text: string): readonly Problem[] {
  return judged.test(path) ? problemsIn(parseTypeScript(text)) : [];
}

function problemsIn({ body, lineOf }: Syntax): readonly Problem[] {
  const problems: Problem[] = [];
  const readings = new Set<string>();
  const visitAll = (visit: (node: SyntaxNode) => void): void => {
    for (const statement of body) walk(statement, visit);
  };
  visitAll((node) => {
    const name = node.type === 'VariableDeclarator' ? nameOf(nodeIn(node, 'id')) : null;
    if (name !== null && isReading(nodeIn(node, 'init'))) readings.add(name);
  });
  visitAll((node) => {
    if (readsDate(node))
      problems.push({ line: lineOf(node), message: 'the clock is an argument (@pm/kit/clock)' });
    if (isDifference(node, readings))
      problems.push({ line: lineOf(node), message: 'a difference of times is monotonic' });
  });
  return problems;
}

/** A call of `nowMs`, of whatever object. */
function isReading(node: SyntaxNode | null): boolean {
  if (node?.type !== 'CallExpression') return false;
  const callee = nodeIn(node, 'callee');
  if (nameOf(callee) === 'nowMs') return true;
  const property = callee?.type === 'MemberExpression' ? nodeIn(callee, 'property') : null;
  return property?.['value'] === 'nowMs';
}

function isDifference(node: SyntaxNode, readings: ReadonlySet<string>): boolean {
  if (node.type !== 'BinaryExpression' || !differences.has(String(node['operator']))) return false;
  return ['left', 'right'].some((side) => {
    const operand = nodeIn(node, side);
    return isReading(operand) || readings.has(nameOf(operand) ?? '');
  });
}

/** `Date.now`, `Date()` and `new Date()`; `new Date(ms)` reads nothing. */
function readsDate(node: SyntaxNode): boolean {
  const member = memberOf(node);
  if (member !== null) return member.object === 'Date' && member.property === 'now';
  const isCall = node.type === 'CallExpression';
  if (!isCall && node.type !== 'NewExpression') return false;
  if (nameOf(nodeIn(node, 'callee')) !== 'Date') return false;
  const given = node['arguments'];
  return isCall || !Array.isArray(given) || given.length === 0;
}
