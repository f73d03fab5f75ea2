import { Descriptions, type Schema } from './descriptions.ts';

/** A change of the API that a client written for the last release may not survive. */
export interface BreakingChange {
  /** `GET /book`: method and path as in the description. */
  readonly route: string;
  readonly text: string;
}

/**
 * Breaking changes from one OpenAPI description to the next. Clients send requests and read responses, so a request may
 * only take more and a response may only say more. Values of enums of responses count as read: a new one is a change
 * that clients meet, a removed one is none. Limits of the comparison: patterns, formats and `additionalProperties` are
 * equal or changed.
 */
export function breakingChanges(released: unknown, next: unknown): readonly BreakingChange[] {
  const [before, after] = [new Descriptions(released), new Descriptions(next)];
  return before.operations().flatMap(([route, old]) => {
    const now = after.operation(route);
    const texts =
      now === undefined
        ? ['the route is removed']
        : [
            ...parameterChanges(before.parameters(old), after.parameters(now)),
            ...bodyChanges(
              { from: before, to: after },
              before.requestBody(old),
              after.requestBody(now),
            ),
            ...responseChanges({ from: before, to: after }, old, now),
          ];
    return [...new Set(texts)].map((text) => ({ route, text }));
  });
}

interface Pair {
  readonly from: Descriptions;
  readonly to: Descriptions;
}

type Parameters = ReturnType<Descriptions['parameters']>;

function parameterChanges(old: Parameters, now: Parameters): readonly string[] {
  const removed = [...old.keys()].filter((name) => !now.has(name));
  const changed = [...now].flatMap(([name, { required, schema }]) => {
    const known = old.get(name);
    if (known === undefined) return required ? [`parameter ${name} is new and required`] : [];
    const becomesRequired = required && !known.required;
    return [
      ...(becomesRequired ? [`parameter ${name} is required`] : []),
      ...narrower(known.schema, schema, requestWords).map((what) => `parameter ${name}: ${what}`),
    ];
  });
  return [...removed.map((name) => `parameter ${name} is removed`), ...changed];
}

type Body = ReturnType<Descriptions['requestBody']>;

function bodyChanges({ from, to }: Pair, old: Body, now: Body): readonly string[] {
  if (old === null) return now?.required === true ? ['a body is required'] : [];
  if (now === null) return ['the body is no longer taken'];
  const becomesRequired = now.required && !old.required ? ['the body is required'] : [];
  return [...becomesRequired, ...requestChanges({ from, to }, old.schema, now.schema, 'body')];
}

function responseChanges({ from, to }: Pair, old: Schema, now: Schema): readonly string[] {
  const [before, after] = [from.responses(old), to.responses(now)];
  return [...before].flatMap(([status, bodies]) => {
    const found = after.get(status);
    if (found === undefined) return [`status ${status} is removed`];
    return [...bodies].flatMap(([type, schema]) => {
      const body = found.get(type);
      if (body === undefined) return [`status ${status}: ${type} is removed`];
      return answerChanges({ from, to }, schema, body, `status ${status}`);
    });
  });
}

/** How a request takes less than before. */
function requestChanges(pair: Pair, old: Schema, now: Schema, place: string): readonly string[] {
  const [before, after] = [pair.from.resolved(old), pair.to.resolved(now)];
  const alternatives = alternativesOf(before, after);
  if (alternatives !== null) {
    // Each form that was taken is taken by one of the forms of now.
    return alternatives.old.flatMap((one) => {
      const tried = alternatives.now.map((other) => requestChanges(pair, one, other, place));
      return tried.some((changes) => changes.length === 0) ? [] : shortest(tried, place);
    });
  }
  const required = (after.required ?? []).filter((name) => !(before.required ?? []).includes(name));
  const fields = shared(before, after).flatMap(([name, one, other]) =>
    requestChanges(pair, one, other, `${place}.${name}`),
  );
  return [
    ...narrower(before, after, requestWords).map((what) => `${place}: ${what}`),
    ...required.map((name) => `${place}.${name} is required`),
    ...fields,
    ...(before.items === undefined || after.items === undefined
      ? []
      : requestChanges(pair, before.items, after.items, `${place}[]`)),
  ];
}

/** How a response says less than before, or something else. */
function answerChanges(pair: Pair, old: Schema, now: Schema, place: string): readonly string[] {
  const [before, after] = [pair.from.resolved(old), pair.to.resolved(now)];
  const alternatives = alternativesOf(before, after);
  if (alternatives !== null) {
    // Each form that may come now is one of the forms that came before.
    return alternatives.now.flatMap((one) => {
      const tried = alternatives.old.map((other) => answerChanges(pair, other, one, place));
      return tried.some((changes) => changes.length === 0) ? [] : shortest(tried, place);
    });
  }
  const names = new Set(Object.keys(after.properties ?? {}));
  const removed = Object.keys(before.properties ?? {}).filter((name) => !names.has(name));
  const optional = (before.required ?? []).filter(
    (name) => names.has(name) && !(after.required ?? []).includes(name),
  );
  const fields = shared(before, after).flatMap(([name, one, other]) =>
    answerChanges(pair, one, other, `${place}.${name}`),
  );
  return [
    ...narrower(after, before, responseWords).map((what) => `${place}: ${what}`),
    ...removed.map((name) => `${place}.${name} is removed`),
    ...optional.map((name) => `${place}.${name} may be absent`),
    ...fields,
    ...(before.items === undefined || after.items === undefined
      ? []
      : answerChanges(pair, before.items, after.items, `${place}[]`)),
  ];
}

/** Both as lists of alternatives when one of them is one. */
function alternativesOf(before: Schema, after: Schema) {
  if (before.anyOf === undefined && after.anyOf === undefined) return null;
  return { old: before.anyOf ?? [before], now: after.anyOf ?? [after] };
}

function shortest(tried: readonly (readonly string[])[], place: string): readonly string[] {
  const [found] = [...tried].sort((left, right) => left.length - right.length);
  return found ?? [`${place}: a form is removed`];
}

function shared(before: Schema, after: Schema): readonly (readonly [string, Schema, Schema])[] {
  return Object.entries(before.properties ?? {}).flatMap(([name, one]) => {
    const other = after.properties?.[name];
    return other === undefined ? [] : [[name, one, other] as const];
  });
}

const lowest = ['minimum', 'minLength', 'minItems'] as const;
const highest = ['maximum', 'maxLength', 'maxItems'] as const;

interface Words {
  only(form: string): string;
  value(json: string): string;
  bound(name: string, value: number): string;
  readonly closed: string;
}

const requestWords: Words = {
  only: (form) => `takes ${form} only`,
  value: (json) => `does not take ${json}`,
  bound: (name, value) => `takes ${name} ${value}`,
  closed: 'takes no further fields',
};
const responseWords: Words = {
  only: (form) => `is not always ${form}`,
  value: (json) => `may be ${json}`,
  bound: (name, value) => `may be beyond ${name} ${value}`,
  closed: 'may have further fields',
};

/** How `now` has fewer values than `old` at its own level. */
function narrower(old: Schema, now: Schema, words: Words): readonly string[] {
  const values = valuesOf(now);
  const known = valuesOf(old) ?? ['any value'];
  const lost = values === null ? [] : known.filter((one) => !values.includes(one));
  const forms = [
    ...(now.type !== old.type ? [now.type] : []),
    ...(now.pattern !== old.pattern ? [now.pattern] : []),
  ].filter((form) => form !== undefined);
  const isClosed = now.additionalProperties === false && old.additionalProperties !== false;
  return [
    ...forms.map(words.only),
    ...lost.map(words.value),
    ...narrowerBounds(old, now).map(([name, value]) => words.bound(name, value)),
    ...(isClosed ? [words.closed] : []),
  ];
}

function narrowerBounds(old: Schema, now: Schema): readonly (readonly [string, number])[] {
  const below = lowest.flatMap((name) =>
    bound(name, now, (value) => value > (old[name] ?? -Infinity)),
  );
  const above = highest.flatMap((name) =>
    bound(name, now, (value) => value < (old[name] ?? Infinity)),
  );
  return [...below, ...above];
}

function bound(
  name: (typeof lowest | typeof highest)[number],
  schema: Schema,
  isNarrower: (value: number) => boolean,
): readonly (readonly [string, number])[] {
  const value = schema[name];
  return value !== undefined && isNarrower(value) ? [[name, value]] : [];
}

/** The values of a closed list as JSON; null where it is open. */
function valuesOf(schema: Schema): readonly string[] | null {
  if ('const' in schema) return [JSON.stringify(schema.const)];
  return schema.enum?.map((value) => JSON.stringify(value)) ?? null;
}
