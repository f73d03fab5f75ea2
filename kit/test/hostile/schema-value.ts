import fc from 'fast-check';
import type { TSchema } from 'typebox';
import type { Dice } from './dice.ts';
import { hostileValue } from './hostile-values.ts';

/** Fields of a schema that the generator reads: JSON Schema as TypeBox writes it. */
interface Rules {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Rules[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Rules;
  readonly properties?: Readonly<Record<string, Rules>>;
  readonly required?: readonly string[];
}

const samples = new Map<string, readonly string[]>();
const samplesPerPattern = 40;
const itemsMax = 5;
const textMax = 20;

/** A value of the schema: optional fields come and go, numbers lie at their bounds or anywhere between. */
export function schemaValue(schema: TSchema, dice: Dice): unknown {
  return drawn(schema as Rules, dice);
}

function drawn(rules: Rules, dice: Dice): unknown {
  if (rules.const !== undefined) return rules.const;
  if (rules.anyOf !== undefined) return drawn(dice.pick(rules.anyOf), dice);
  if (rules.type === 'object') return objectOf(rules, dice);
  if (rules.type === 'array') return arrayOf(rules, dice);
  if (rules.type === 'string') return textOf(rules, dice);
  if (rules.type === 'integer') return Math.floor(numberOf(rules, dice));
  if (rules.type === 'number') return numberOf(rules, dice);
  if (rules.type === 'boolean') return dice.isOneIn(2);
  return rules.type === 'null' ? null : hostileValue(dice);
}

function objectOf({ properties = {}, required = [] }: Rules, dice: Dice): object {
  const names = Object.keys(properties).filter(
    (name) => required.includes(name) || dice.isOneIn(2),
  );
  return Object.fromEntries(names.map((name) => [name, drawn(properties[name] ?? {}, dice)]));
}

function arrayOf({ items = {}, minItems = 0, maxItems = itemsMax }: Rules, dice: Dice): unknown[] {
  const length = minItems + dice.below(Math.min(maxItems - minItems, itemsMax) + 1);
  return Array.from({ length }, () => drawn(items, dice));
}

function textOf({ pattern, minLength = 0, maxLength = textMax }: Rules, dice: Dice): string {
  if (pattern !== undefined) return dice.pick(samplesOf(pattern));
  const length = minLength + dice.below(Math.min(maxLength - minLength, textMax) + 1);
  return Array.from({ length }, () => dice.pick(['a', 'Z', '0', ' ', 'é', '-'])).join('');
}

function samplesOf(pattern: string): readonly string[] {
  const known = samples.get(pattern);
  if (known !== undefined) return known;
  const fresh = fc.sample(fc.stringMatching(new RegExp(withoutClasses(pattern), 'u')), {
    numRuns: samplesPerPattern,
    seed: 1,
  });
  samples.set(pattern, fresh);
  return fresh;
}

/** fast-check draws no characters of these classes, so it cannot leave them out either. */
function withoutClasses(pattern: string): string {
  return pattern.replaceAll('\\p{Cc}', '\\u0000-\\u001f').replaceAll('\\p{Cs}', '');
}

function numberOf({ minimum = 0, maximum = 2 ** 53 - 1 }: Rules, dice: Dice): number {
  return dice.pick([minimum, maximum, minimum + dice.next() * (maximum - minimum)]);
}
