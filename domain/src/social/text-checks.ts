/** Texts that people write: what they may hold, and how long they are in code points. */
const lineBreak = /\r\n|[\n\t]/g;
const control = /\p{Cc}/u;
const loneSurrogate = /\p{Surrogate}/u;
/** Spaces, what is never drawn (zero-width characters and the like), and the braille pattern without dots. */
const invisible = /[\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** Characters that change the direction of the text around them, so that one name reads as another. */
const bidiOverride = /[\u202A-\u202E\u2066-\u2069]/;

/**
 * Why a text is not taken, as what follows its name in a sentence ("is empty"), or null. Control characters other than
 * line breaks and tabs, and broken Unicode, never are; a text without a visible character is empty.
 */
export function textProblem(
  text: string,
  bounds: { readonly min: number; readonly max: number },
): string | null {
  if (control.test(text.replace(lineBreak, ''))) return 'has control characters';
  if (loneSurrogate.test(text)) return 'is not well-formed Unicode';
  const length = [...text].length;
  if (bounds.min > 0 && text.replace(invisible, '') === '') return 'is empty';
  if (length > bounds.max) return `is longer than ${bounds.max} characters`;
  return null;
}

/** Why a text of one line that distinguishes people is not taken, in the words of `textProblem`, or null. */
export function nameProblem(name: string, max: number): string | null {
  if (/[\n\t]/.test(name)) return 'has line breaks';
  if (bidiOverride.test(name)) return 'has characters that turn the direction of text';
  return textProblem(name, { min: name === '' ? 0 : 1, max });
}

/** A text with the line breaks of every system as one character. */
export function withPlainBreaks(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
