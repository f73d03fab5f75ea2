// A small language for the field lists of the specification, and the check of an answer against one.
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

const kinds = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: Number.isSafeInteger,
  boolean: (value) => typeof value === 'boolean',
  'date-time': (value) => typeof value === 'string' && dateTime.test(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'string or null': (value) => value === null || typeof value === 'string',
  'boolean or null': (value) => value === null || typeof value === 'boolean',
};

/** Fields of one kind, as the specification groups them: fields('string', 'id slug'). */
export const fields = (kind, names) =>
  Object.fromEntries(names.split(' ').map((name) => [name, kind]));

/** An object that carries these fields and no others. */
export const only = (shape) => ({ only: true, shape });

/**
 * Problems of a response: a missing field, or one of another type. A shape is the name of a kind, an array of
 * one shape, an object of shapes, or `only` these fields. More fields than listed are allowed otherwise.
 */
export function problems(value, shape, path = '$') {
  if (typeof shape === 'string') {
    return kinds[shape](value) ? [] : [`${path}: ${JSON.stringify(value)} is no ${shape}`];
  }
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${path} is no array`];
    return value.flatMap((one, index) => problems(one, shape[0], `${path}[${index}]`));
  }
  if (!kinds.object(value)) return [`${path} is no object`];
  const { only: isClosed, shape: listed } = shape.only === true ? shape : { shape };
  const unlisted = isClosed ? Object.keys(value).filter((name) => !(name in listed)) : [];
  return [
    ...unlisted.map((name) => `${path}.${name} is not listed`),
    ...Object.entries(listed).flatMap(([name, of]) => problems(value[name], of, `${path}.${name}`)),
  ];
}
