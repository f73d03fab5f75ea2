import { type Module, parseSync } from '@swc/core';

/** A node of the syntax tree of swc; fields depend on its type. */
export interface SyntaxNode {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A parsed file: its top statements, and the line of each node. */
export interface Syntax {
  readonly body: readonly SyntaxNode[];
  lineOf(node: SyntaxNode): number;
}

/**
 * Parses TypeScript. Spans of swc count bytes from a base that it does not report, so that an empty statement is put
 * before the text to find it. Throws the syntax error of swc.
 */
export function parseTypeScript(text: string): Syntax {
  const module: Module = parseSync(`;${withoutHashbang(text)}`, {
    syntax: 'typescript',
    target: 'es2022',
  });
  const [marker, ...body] = module.body as unknown as SyntaxNode[];
  const base = marker === undefined ? 0 : (startOf(marker) ?? 0);
  const bytes = Buffer.from(`;${withoutHashbang(text)}`);
  const lineOf = (node: SyntaxNode): number => {
    const start = startOf(node) ?? base;
    let line = 1;
    for (const byte of bytes.subarray(0, start - base)) if (byte === 0x0a) line += 1;
    return line;
  };
  return { body, lineOf };
}

/** The first line of a program that a shell starts; the line stays, empty. */
function withoutHashbang(text: string): string {
  return text.replace(/^#!.*/, '');
}

function startOf(node: SyntaxNode): number | null {
  const span = node['span'];
  const start = typeof span === 'object' && span !== null ? Reflect.get(span, 'start') : null;
  return typeof start === 'number' ? start : null;
}

/** Nodes directly below a node, in the order of its fields. */
function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  return Object.values(node).flatMap(nodesIn);
}

function nodesIn(value: unknown): readonly SyntaxNode[] {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  if (typeof value !== 'object' || value === null) return [];
  if (typeof Reflect.get(value, 'type') === 'string') return [value as SyntaxNode];
  // Arguments of calls, elements of lists and functions of methods are wrapped without a type.
  return Object.values(value).flatMap(nodesIn);
}

/** Calls `visit` for a node and all below it, parents first. */
export function walk(node: SyntaxNode, visit: (node: SyntaxNode) => void): void {
  visit(node);
  for (const child of childrenOf(node)) walk(child, visit);
}

/** A field that is a node; null when it is none. */
export function nodeIn(node: SyntaxNode, field: string): SyntaxNode | null {
  const [child] = nodesIn(node[field]);
  return child ?? null;
}

/** The name of an identifier; null for any other node. */
export function nameOf(node: SyntaxNode | null): string | null {
  return node?.type === 'Identifier' && typeof node['value'] === 'string' ? node['value'] : null;
}

/** `object.property` of a member expression with plain names; null otherwise. */
export function memberOf(
  node: SyntaxNode | null,
): { readonly object: string; readonly property: string | null } | null {
  if (node?.type !== 'MemberExpression') return null;
  const object = nameOf(nodeIn(node, 'object'));
  return object === null ? null : { object, property: nameOf(nodeIn(node, 'property')) };
}
