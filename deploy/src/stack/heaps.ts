import { type Field, integer } from '@pm/kit/config';
import { mebibyte } from '../local/managed-process.ts';
import type { Heap } from '../local/process-end.ts';
import { StackError } from '../local/stack-error.ts';

/** Heap of each program where the machine is small and no variable sets it, MB. */
const leastMebibytes = {
  matcher: 192,
  projectors: 192,
  ingress: 192,
  operator: 192,
  'query-api': 192,
  // Half of it is for connections and subscriptions.
  streams: 384,
  mcp: 192,
  gateway: 192,
  demo: 192,
} as const;

export type HeapProgram = keyof typeof leastMebibytes;

export const heapPrograms = Object.keys(leastMebibytes).filter(isProgram);

/**
 * Programs whose memory grows with markets and wallets, and which part of the memory of the machine their processes may
 * have as heap: 7/32 together, since engines and their files need the rest.
 */
const partOfMemory: Readonly<Partial<Record<HeapProgram, number>>> = {
  matcher: 1 / 32,
  projectors: 1 / 32,
  ingress: 1 / 32,
  operator: 1 / 32,
  'query-api': 1 / 32,
  streams: 1 / 16,
};
/** Not more by the memory of the machine: a full collection of more takes seconds. */
const mostMebibytes = 4096;

/** Heap of a process of each program, MB. */
export type Heaps = Readonly<Record<HeapProgram, number>>;

const allVariable = 'PM_HEAP_MB';
const span = { unit: 'MB', min: 64, max: 65_536 };

/** The variable of one program: `PM_HEAP_MB_QUERY_API`. */
export function heapVariable(program: HeapProgram): string {
  return `${allVariable}_${program.toUpperCase().replaceAll('-', '_')}`;
}

const allField = integer(allVariable, {
  ...span,
  meaning:
    'JavaScript heap of each process that has no variable of its own (what-a-box-can-do.md: which needs how much).',
});

/** The variables that set heaps, as the configuration reference shows them. */
export const heapFields: readonly Field<number>[] = [
  { ...allField, fallback: { value: 0, shown: 'by program and memory' } },
  ...heapPrograms.map((program) => {
    const meaning = `JavaScript heap of ${program === 'demo' ? 'the demo' : `each process of ${program}`}.`;
    return { ...heapField(program, meaning), fallback: { value: 0, shown: defaultShown(program) } };
  }),
];

function heapField(program: HeapProgram, meaning = ''): Field<number> {
  return integer(heapVariable(program), { ...span, meaning });
}

function defaultShown(program: HeapProgram): string {
  const least = leastMebibytes[program];
  const part = partOfMemory[program];
  if (part === undefined) return `\`${allVariable}\`, else ${least}`;
  const share = `1/${1 / part} of the memory shared by its processes`;
  return `\`${allVariable}\`, else ${share}, ${least} to ${mostMebibytes}`;
}

export interface HeapOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Memory of the machine, or of the group of processes if that is less, bytes. */
  readonly memoryBytes: number;
  /** Processes of each program that has several; they share its part of the memory. */
  readonly processes: Readonly<Partial<Record<HeapProgram, number>>>;
}

/**
 * The heap of each program: its own variable, that of all, or its part of the memory.
 *
 * @throws StackError BAD_DESCRIPTION for a variable that is no number in the allowed range.
 */
export function heapsOf({ env, memoryBytes, processes }: HeapOptions): Heaps {
  const all = given(allField, env);
  const heaps = heapPrograms.map((program) => {
    const byMemory = heapByMemory(program, memoryBytes / (processes[program] ?? 1));
    return [program, given(heapField(program), env) ?? all ?? byMemory] as const;
  });
  return Object.fromEntries(heaps) as Heaps;
}

function heapByMemory(program: HeapProgram, memoryBytes: number): number {
  const part = Math.floor((memoryBytes * (partOfMemory[program] ?? 0)) / mebibyte);
  return Math.max(leastMebibytes[program], Math.min(part, mostMebibytes));
}

function given(field: Field<number>, env: HeapOptions['env']): number | null {
  const text = env[field.name] ?? '';
  if (text === '') return null;
  const parsed = field.parse(text);
  if (parsed !== null && 'value' in parsed) return parsed.value;
  throw new StackError(
    'BAD_DESCRIPTION',
    `${field.name}=${text}: allowed is ${field.allowed} (MB)`,
  );
}

/** The heap of a program, and the variable that makes it larger. */
export function heapOf(program: string, heaps: Heaps = leastMebibytes): Heap {
  if (!isProgram(program)) throw new StackError('BAD_DESCRIPTION', `no heap of ${program}`);
  return { mebibytes: heaps[program], variable: heapVariable(program) };
}

function isProgram(name: string): name is HeapProgram {
  return Object.hasOwn(leastMebibytes, name);
}
