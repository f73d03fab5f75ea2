import { AvroError } from '@pm/schemas/avro/bytes';
import type { AvroSchema } from '@pm/schemas/avro/schema';
import { isNullable } from './writer-schema.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * A value of another version without the fields that this version does not know. An unknown branch of a `oneOf`
 * cannot be left out without changing what the record says, so it is an `AvroError`.
 */
export function fitToReader(value: unknown, reader: AvroSchema): unknown {
  if (value === null || typeof reader === 'string') return value;
  if (isNullable(reader)) return fitToReader(value, reader[1]);
  switch (reader.type) {
    case 'array':
      return (value as readonly unknown[]).map((item) => fitToReader(item, reader.items));
    case 'record':
      return fitFields(value as Values, reader.fields, {});
    case 'oneOf': {
      const { kind } = value as { readonly kind: string };
      const branch = reader.branches.find((one) => one.name === kind);
      if (branch === undefined) throw new AvroError(`${reader.name} is of a kind not known here`);
      return fitFields(value as Values, branch.fields, { kind });
    }
    default:
      return value;
  }
}

function fitFields(
  value: Values,
  fields: readonly { readonly name: string; readonly type: AvroSchema }[],
  into: Record<string, unknown>,
): Values {
  for (const field of fields) {
    if (field.name in value) into[field.name] = fitToReader(value[field.name], field.type);
  }
  return into;
}
