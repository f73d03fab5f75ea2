import fc from 'fast-check';
import { nestsWithin } from '../../src/http/nesting.ts';

/** Character by character, as the grammar of JSON says. */
function depthOf(text: string): number {
  let [depth, deepest, isText, isEscaped] = [0, 0, false, false];
  for (const character of text) {
    if (isText) {
      if (character === '"' && !isEscaped) isText = false;
      isEscaped = character === '\\' && !isEscaped;
    } else if (character === '"') isText = true;
    else if ('[{'.includes(character)) {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (']}'.includes(character)) depth -= 1;
  }
  return deepest;
}

test('nesting is counted outside of strings only, whatever is escaped in them', () => {
  const anything = fc.string({ unit: fc.constantFrom(...'[]{}"\\,:aé😀'), maxLength: 60 });
  fc.assert(
    fc.property(fc.oneof(anything, fc.json()), fc.integer({ min: 1, max: 6 }), (text, most) => {
      expect(nestsWithin(text, most)).toBe(depthOf(text) <= most);
    }),
    { numRuns: 2_000 },
  );
});
