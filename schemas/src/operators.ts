import { type Static, Type } from 'typebox';

/** Roles of operators. Each route of the operator's listener declares one of them (`OperatorRouteDeclaration`). */
export const operatorRoles = ['viewer', 'catalog', 'treasury', 'resolver', 'admin'] as const;
export type OperatorRole = (typeof operatorRoles)[number];

/** Operators in one file. */
export const operatorsMax = 100;

/** One operator. Its token is 256 random bits, so their SHA-256 is no easier to guess than they are. */
export const OperatorEntry = Type.Object(
  {
    name: Type.String({ pattern: '^[\\w.@-]{1,64}$' }),
    roles: Type.Array(Type.Enum([...operatorRoles]), {
      minItems: 1,
      maxItems: operatorRoles.length,
      uniqueItems: true,
    }),
    tokenSha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Of the token as text.' }),
    expiresAt: Type.Optional(
      Type.String({
        pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{3})?Z$',
        description: 'From then on the token opens nothing.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type OperatorEntry = Static<typeof OperatorEntry>;

/** The file that `PM_OPERATORS_FILE` names (operator.md). */
export const OperatorsFile = Type.Object(
  { operators: Type.Array(OperatorEntry, { maxItems: operatorsMax }) },
  { additionalProperties: false },
);
export type OperatorsFile = Static<typeof OperatorsFile>;
