/** A part of an OpenAPI description: a schema, or whatever holds schemas. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: unknown;
}

type Part = Readonly<Record<string, unknown>>;

/** Reads an OpenAPI description, with its references resolved. */
export class Descriptions {
  readonly #document: Part;
  readonly #operations = new Map<string, Schema>();

  constructor(document: unknown) {
    this.#document = partOf(document);
    for (const [path, methods] of Object.entries(partOf(this.#document['paths']))) {
      for (const [method, operation] of Object.entries(partOf(methods))) {
        this.#operations.set(`${method.toUpperCase()} ${path}`, partOf(operation));
      }
    }
  }

  /** By method and path. */
  operations(): readonly (readonly [string, Schema])[] {
    return [...this.#operations];
  }

  operation(route: string): Schema | undefined {
    return this.#operations.get(route);
  }

  /** Parameters by place and name. */
  parameters(
    operation: Schema,
  ): ReadonlyMap<string, { readonly required: boolean; readonly schema: Schema }> {
    const listed = (operation as Part)['parameters'];
    const all = (Array.isArray(listed) ? listed : []).map((one: unknown) => this.#partAt(one));
    return new Map(
      all.map((one) => [
        `${String(one['in'])} ${String(one['name'])}`,
        { required: one['required'] === true, schema: this.resolved(partOf(one['schema'])) },
      ]),
    );
  }

  /** The JSON body that is taken; null without one. */
  requestBody(operation: Schema): { readonly required: boolean; readonly schema: Schema } | null {
    const body = (operation as Part)['requestBody'];
    if (body === undefined) return null;
    const part = this.#partAt(body);
    const [content] = Object.values(partOf(part['content']));
    return { required: part['required'] === true, schema: partOf(partOf(content)['schema']) };
  }

  /** Bodies by content type by status. */
  responses(operation: Schema): ReadonlyMap<string, ReadonlyMap<string, Schema>> {
    const all = Object.entries(partOf((operation as Part)['responses']));
    return new Map(
      all.map(([status, response]) => {
        const contents = Object.entries(partOf(this.#partAt(response)['content']));
        const bodies = contents.map(
          ([type, content]) => [type, partOf(partOf(content)['schema']) as Schema] as const,
        );
        return [status, new Map(bodies)];
      }),
    );
  }

  /** The schema itself where it is a reference to one. */
  resolved(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : this.#partAt(schema);
  }

  #partAt(given: unknown): Part {
    const part = partOf(given);
    const { $ref: reference } = part;
    if (typeof reference !== 'string') return part;
    const names = reference.split('/').slice(1);
    return partOf(names.reduce<unknown>((inside, name) => partOf(inside)[name], this.#document));
  }
}

function partOf(value: unknown): Part {
  return typeof value === 'object' && value !== null ? (value as Part) : {};
}
