/** Bound of the JavaScript heap of a process. */
export interface Heap {
  /** Heap size for objects that outlive a first collection, MiB. */
  readonly mebibytes: number;
  /** The variable that sets it. */
  readonly variable: string;
}

/** How a process has ended: with a code or by a signal, after it has written `output` last. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** V8 aborts after one of these; a stack of native functions may follow. */
const heapMarks = ['Reached heap limit', 'JavaScript heap out of memory'];
/** 128 and the number of SIGABRT: the code where a shell has started the process. */
const abortCode = 134;

/** Why a process has ended, for its operator: `exit code 3`, or what its heap was too small for, with the setting. */
export function reasonOfEnd(end: ProcessEnd, heap: Heap | undefined): string {
  const reason = end.signal === null ? `exit code ${end.code}` : `signal ${end.signal}`;
  if (!isHeapEnd(end)) return reason;
  if (heap === undefined) return `${reason}: out of memory, its heap is full`;
  const { mebibytes, variable } = heap;
  return `${reason}: out of memory, its heap of ${mebibytes} MB is full; ${variable}=${mebibytes * 2} makes it larger`;
}

function isHeapEnd({ code, signal, output }: ProcessEnd): boolean {
  const isAborted = signal === 'SIGABRT' || code === abortCode;
  return isAborted && heapMarks.some((mark) => output.includes(mark));
}
