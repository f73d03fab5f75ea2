import type { Problem } from './purity.ts';
import { memberOf, nameOf, nodeIn, type Syntax, type SyntaxNode, walk } from './syntax.ts';

/** Characters of a line of code, of a comment or of a document. */
const lineCharsMax = 120;

/**
 * Lines that are too long. A line that cannot be broken is none: a row of a table, an address, a path without a
 * space, an example between fences.
 */
export function widthProblems(text: string): readonly Problem[] {
  let isFenced = false;
  return text.split('\n').flatMap((line, index) => {
    if (line.startsWith('```')) isFenced = !isFenced;
    if (isFenced) return [];
    const isBreakable = !line.startsWith('|') && /\S\s+\S.*\s\S/.test(line.replace(/\S{80,}/, ''));
    if (line.length <= lineCharsMax || !isBreakable) return [];
    return [{ line: index + 1, message: `${line.length} characters, ${lineCharsMax} at most` }];
  });
}

const screaming = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;

/** Constants in SCREAMING_CASE, and objects that are spread where they are written. */
export function styleProblems({ body, lineOf }: Syntax): readonly Problem[] {
  const problems: Problem[] = [];
  for (const statement of body) {
    walk(statement, (node) => {
      const name = declaredConstant(node);
      if (name !== null && name.length > 1 && screaming.test(name)) {
        problems.push({ line: lineOf(node), message: `${name} is written in camelCase` });
      }
      if (isSpreadLiteral(node)) {
        problems.push({
          line: lineOf(nodeIn(node, 'arguments') ?? node),
          message: 'the fields of a spread object are written out',
        });
      }
    });
  }
  return problems;
}

function declaredConstant(node: SyntaxNode): string | null {
  if (node.type === 'VariableDeclarator') return nameOf(nodeIn(node, 'id'));
  return node.type === 'ClassProperty' ? nameOf(nodeIn(node, 'key')) : null;
}

function isSpreadLiteral(node: SyntaxNode): boolean {
  if (node.type !== 'SpreadElement') return false;
  return nodeIn(node, 'arguments')?.type === 'ObjectExpression';
}

const mutators = new Set([
  'add',
  'clear',
  'copyWithin',
  'delete',
  'fill',
  'pop',
  'push',
  'reverse',
  'set',
  'shift',
  'sort',
  'splice',
  'unshift',
]);

/**
 * State of a module that all its users share: `let` outside of functions, and constants there that are changed
 * (lists, maps, sets, objects) or handed out as scratch (buffers). Constants that nothing changes pass.
 */
export function moduleStateProblems({ body, lineOf }: Syntax): readonly Problem[] {
  const problems: Problem[] = [];
  const constants = new Map<string, SyntaxNode>();
  for (const statement of body) {
    const declaration =
      statement.type === 'ExportDeclaration' ? nodeIn(statement, 'declaration') : statement;
    if (declaration?.type !== 'VariableDeclaration') continue;
    if (declaration['kind'] !== 'const' && declaration['declare'] !== true) {
      problems.push({ line: lineOf(declaration), message: 'no variable outside of functions' });
    }
    walk(declaration, (node) => {
      const name = node.type === 'VariableDeclarator' ? nameOf(nodeIn(node, 'id')) : null;
      if (name !== null && isTopOf(declaration, node)) constants.set(name, node);
    });
  }
  const changed = changedNames(body, bufferNames(constants));
  for (const [name, node] of constants) {
    if (!changed.has(name)) continue;
    problems.push({ line: lineOf(node), message: `${name} is state of the module` });
  }
  return problems;
}

function isTopOf(declaration: SyntaxNode, declarator: SyntaxNode): boolean {
  const declarators = declaration['declarations'];
  return Array.isArray(declarators) && declarators.includes(declarator);
}

/** Constants that are made by `Buffer.alloc` and the like, or as typed arrays; empty ones have nothing to share. */
function bufferNames(constants: ReadonlyMap<string, SyntaxNode>): ReadonlySet<string> {
  const names = [...constants].filter(([, node]) => {
    const init = nodeIn(node, 'init');
    const callee = init === null ? null : nodeIn(init, 'callee');
    const made = memberOf(callee);
    const isBuffer = made?.object === 'Buffer' && /^alloc/.test(made.property ?? '');
    const isTyped =
      init?.type === 'NewExpression' && /Array$|^DataView$/.test(nameOf(callee) ?? '');
    const given = init === null ? null : nodeIn(init, 'arguments');
    const isEmpty = given?.type === 'NumericLiteral' && given['value'] === 0;
    return (isBuffer || (isTyped && nameOf(callee) !== 'Array')) && !isEmpty;
  });
  return new Set(names.map(([name]) => name));
}

function changedNames(
  body: readonly SyntaxNode[],
  buffers: ReadonlySet<string>,
): ReadonlySet<string> {
  const changed = new Set<string>();
  for (const statement of body) {
    walk(statement, (node) => {
      for (const name of changedBy(node, buffers)) changed.add(name);
    });
  }
  return changed;
}

function changedBy(node: SyntaxNode, buffers: ReadonlySet<string>): readonly string[] {
  if (node.type === 'AssignmentExpression' || node.type === 'UpdateExpression') {
    const target = nodeIn(node, node.type === 'UpdateExpression' ? 'argument' : 'left');
    const member = memberOf(target);
    return member === null ? [] : [member.object];
  }
  if (node.type === 'UnaryExpression' && node['operator'] === 'delete') {
    const member = memberOf(nodeIn(node, 'argument'));
    return member === null ? [] : [member.object];
  }
  return node.type === 'CallExpression' ? changedByCall(node, buffers) : [];
}

function changedByCall(call: SyntaxNode, buffers: ReadonlySet<string>): readonly string[] {
  const member = memberOf(nodeIn(call, 'callee'));
  const property = member?.property ?? '';
  const isWrite = property === 'write' && buffers.has(member?.object ?? '');
  const isMutation = mutators.has(property) || isWrite || /^write[A-Z]/.test(property);
  const given = Array.isArray(call['arguments']) ? call['arguments'] : [];
  const scratch = given.flatMap((one: { readonly expression: SyntaxNode }) => {
    const name = nameOf(one.expression);
    return name !== null && buffers.has(name) ? [name] : [];
  });
  return member !== null && isMutation ? [member.object, ...scratch] : scratch;
}
