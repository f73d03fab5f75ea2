import fc from 'fast-check';
import { sameText } from '../../src/accounts/same-text.ts';

test('texts are the same exactly when they are equal, whatever was compared before', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 140 }),
    fc.constantFrom(
      '',
      '\0',
      'a',
      'a\0',
      'é',
      '\ud800',
      '\ud801',
      'x'.repeat(128),
      'x'.repeat(129),
      '€'.repeat(128),
    ),
  );
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(sameText(one, other)).toBe(one === other);
      expect(sameText(one, `${one}`)).toBe(true);
      expect(sameText(one, `${one}\0`)).toBe(false);
    }),
  );
});
