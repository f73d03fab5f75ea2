const quote = 0x22;
const backslash = 0x5c;
const openList = 0x5b;
const openObject = 0x7b;
const closeList = 0x5d;
const closeObject = 0x7d;

/** Whether no more than `maxDepth` arrays and objects are open at once. The parser refuses text that is not JSON. */
export function nestsWithin(text: string, maxDepth: number): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === quote) {
      index = endOfText(text, index);
    } else if (character === openObject || character === openList) {
      depth += 1;
      if (depth > maxDepth) return false;
    } else if (character === closeObject || character === closeList) {
      depth -= 1;
    }
  }
  return true;
}

/**
 * The index of the closing quote of the string whose opening quote is at `start`; the length of the text when it has
 * none. Strings are most of a body, and a search for their ends is several times faster than a look at each character.
 */
function endOfText(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end, start)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

/** Whether an odd number of backslashes stands before a place. */
function isEscaped(text: string, place: number, start: number): boolean {
  let from = place;
  while (from - 1 > start && text.charCodeAt(from - 1) === backslash) from -= 1;
  return (place - from) % 2 === 1;
}
