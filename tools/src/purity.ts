import { memberOf, nameOf, nodeIn, type Syntax, type SyntaxNode, walk } from './syntax.ts';

/** A rule that a file breaks. */
export interface Problem {
  readonly line: number;
  readonly message: string;
}

const impureNames = new Set([
  'Promise',
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
  'fetch',
  'getRandomValues',
  'process',
  'queueMicrotask',
  'randomBytes',
  'randomFillSync',
  'randomInt',
  'randomUUID',
  'setImmediate',
  'setInterval',
  'setTimeout',
]);

const impureMembers = new Set(['Date.now', 'Math.random', 'performance.now', 'performance.mark']);

/** Problems of a pure file: it must not wait, start timers, read a clock or the process, or draw random numbers. */
export function purityProblems({ body, lineOf }: Syntax): readonly Problem[] {
  const declared = new Set(body.flatMap(declaredNames));
  const problems: Problem[] = [];
  const report = (node: SyntaxNode, thing: string): void => {
    problems.push({ line: lineOf(node), message: `a pure file has no ${thing}` });
  };
  for (const statement of body) {
    walk(statement, (node) => {
      const thing = impurityOf(node, declared);
      if (thing !== null) report(node, thing);
    });
  }
  return problems;
}

function impurityOf(node: SyntaxNode, declared: ReadonlySet<string>): string | null {
  const isLoop = node.type === 'ForOfStatement' && node['await'] === true;
  if (node.type === 'AwaitExpression' || isLoop) return 'await';
  if (isAsync(node)) return 'async function';
  return impureReference(node, declared) ?? impureTypeOf(node) ?? clockOf(node);
}

/** The functions of methods are wrapped without a type. */
function isAsync(node: SyntaxNode): boolean {
  const inner = node['function'];
  const isMethod = typeof inner === 'object' && inner !== null;
  return node['async'] === true || (isMethod && Reflect.get(inner, 'async') === true);
}

/** Values of the impure names, as they are used in calls, members, arguments, imports and assignments. */
function impureReference(node: SyntaxNode, declared: ReadonlySet<string>): string | null {
  if (node.type === 'ImportSpecifier') return impureImport(node);
  for (const field of valueFields[node.type] ?? []) {
    const name = nameOf(nodeIn(node, field));
    if (name !== null && impureNames.has(name) && !declared.has(name)) return name;
  }
  return impureMember(node);
}

function impureImport(specifier: SyntaxNode): string | null {
  const name = nameOf(nodeIn(specifier, 'imported')) ?? nameOf(nodeIn(specifier, 'local'));
  return name !== null && impureNames.has(name) ? name : null;
}

function impureMember(node: SyntaxNode): string | null {
  const member = memberOf(node);
  if (member === null) return null;
  const { object, property } = member;
  const isClock = impureMembers.has(`${object}.${property}`);
  const isGlobal = object === 'crypto' || object === 'globalThis';
  return isClock || (isGlobal && impureNames.has(property ?? '')) ? `${object}.${property}` : null;
}

/** Fields of a node that hold a value, in which an identifier is a reference. */
const valueFields: Readonly<Record<string, readonly string[]>> = {
  AssignmentExpression: ['right'],
  AssignmentPatternProperty: ['value'],
  CallExpression: ['callee', 'arguments'],
  ConditionalExpression: ['consequent', 'alternate'],
  KeyValueProperty: ['value'],
  MemberExpression: ['object'],
  NewExpression: ['callee', 'arguments'],
  ReturnStatement: ['argument'],
  VariableDeclarator: ['init'],
};

function impureTypeOf(node: SyntaxNode): string | null {
  if (node.type !== 'TsTypeReference') return null;
  return nameOf(nodeIn(node, 'typeName')) === 'Promise' ? 'Promise' : null;
}

/** `new Date()` and `Date()` read the clock; `new Date(ms)` does not. */
function clockOf(node: SyntaxNode): string | null {
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return null;
  if (nameOf(nodeIn(node, 'callee')) !== 'Date') return null;
  const given = node['arguments'];
  const isNow = node.type === 'CallExpression' || !Array.isArray(given) || given.length === 0;
  return isNow ? 'clock (Date without an argument)' : null;
}

/** Names that a statement declares, in it or below. */
function declaredNames(statement: SyntaxNode): readonly string[] {
  const names: string[] = [];
  walk(statement, (node) => {
    const declares = node.type === 'VariableDeclarator' ? 'id' : 'identifier';
    const isDeclaration = /^(VariableDeclarator|FunctionDeclaration|ClassDeclaration)$/.test(
      node.type,
    );
    const name =
      node.type === 'Parameter' ? nameOf(nodeIn(node, 'pat')) : nameOf(nodeIn(node, declares));
    if (name !== null && (isDeclaration || node.type === 'Parameter')) names.push(name);
  });
  return names;
}
