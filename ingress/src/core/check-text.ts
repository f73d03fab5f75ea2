/** Texts that people write: what they may hold, and how long they are in code points. */
const lineBreak = /\r\n|[\n\t]/g;
const control = /\p{Cc}/u;
const loneSurrogate = /\p{Surrogate}/u;

/** Why a text is not taken, or null. Control characters other than line breaks and tabs, and broken Unicode, never are. */
export function textProblem(
  text: string,
  bounds: { readonly min: number; readonly max: number },
): string | null {
  if (control.test(text.replace(lineBreak, ''))) return 'not free of control characters';
  if (loneSurrogate.test(text)) return 'not well-formed Unicode';
  const length = [...text].length;
  if (text.trim() === '' && bounds.min > 0) return 'empty';
  if (length > bounds.max) return `longer than ${bounds.max} characters`;
  return null;
}
