import { Type } from 'typebox';
import { address, count, dateTime, orNull, text } from './forms.ts';

/** Bodies of health, version and completeness (conventions.md 1.6 and 1.5). */
export const RootResponse = Type.Object({ data: Type.Literal('OK') });
export const OkResponse = Type.Literal('OK');
export const ServerTime = Type.Integer({
  minimum: 0,
  description: 'Unix seconds.',
  examples: [1_780_315_200],
});
export const VersionResponse = Type.Object({ version: Type.Literal(2) });

const contract = { ...address, examples: ['0x5fbdb2315678afecb367f032d93f642f64180aa3'] };

const SigningDomainForm = Type.Object({
  name: Type.String({ examples: ['Prediction Exchange'] }),
  version: Type.String({ examples: ['2'] }),
  chainId: Type.Integer({ minimum: 1, examples: [137] }),
  exchange: {
    ...contract,
    description: 'Verifying contract of ordinary markets and of L1 proofs.',
  },
  negRiskExchange: { ...contract, description: 'Verifying contract of neg-risk markets.' },
});

/** GET /signing-domain. */
export const SigningDomainResponse = Type.Object({
  ...SigningDomainForm.properties,
  familyDomains: Type.Array(SigningDomainForm, {
    description: 'Domains of the API family that are accepted as well; empty unless configured.',
  }),
});

/** GET /status: how far each projection is complete, and the partitions of the exchange. */
export const StatusResponse = Type.Object({
  projections: Type.Array(
    Type.Object({
      projection: Type.String({ examples: ['tables'] }),
      known: Type.Boolean({ description: 'False while its store does not answer.' }),
      completeThrough: orNull(dateTime),
      partitions: Type.Array(
        Type.Object({
          partition: count,
          offset: Type.Integer({
            minimum: 0,
            description: 'First record of `executions` that may be missing.',
          }),
          moment: orNull(dateTime),
          lag: Type.Integer({ minimum: 0, description: 'Records of the log after it.' }),
        }),
      ),
    }),
  ),
  partitions: Type.Array(
    Type.Object({
      partition: count,
      owner: orNull(Type.String({ description: 'The process that matches it.' })),
      state: Type.Enum(['live', 'restoring', 'unowned'], {
        description: '`live`: a record of it came within 2 s; its owner ticks.',
      }),
      lastOffset: Type.Integer({ minimum: -1, description: 'Of `orders`; -1 when it is empty.' }),
      applied: orNull(Type.Integer({ minimum: 0, description: 'The last input matched.' })),
      lag: orNull(Type.Integer({ minimum: 0, description: 'Inputs not matched yet.' })),
      clock: orNull(dateTime),
      orders: Type.Integer({
        minimum: 0,
        description: 'Placed and refused ones since the answering process follows the log.',
      }),
      fills: count,
    }),
  ),
  streams: Type.Array(
    Type.Object({
      known: Type.Boolean({ description: 'False while it does not answer.' }),
      follows: Type.Boolean({
        description: 'It has caught up and follows every partition of the log.',
      }),
      lag: Type.Integer({ minimum: 0, description: 'Records of the log that it has not taken.' }),
      faultMs: Type.Integer({
        minimum: 0,
        description: 'For how long it has not been able to follow some partition.',
      }),
    }),
    { description: 'The instances of the stream service.' },
  ),
  solvency: Type.Object(
    {
      sound: Type.Boolean({
        description: 'False while any money did not add up and no operator has cleared it.',
      }),
      withdrawals: Type.Enum(['open', 'frozen'], { description: 'Those of all wallets.' }),
      frozenWallets: Type.Integer({
        minimum: 0,
        description: 'Wallets whose withdrawals are frozen, by the check or by an operator.',
      }),
    },
    { description: 'The check of all money and tokens against each other, after each record.' },
  ),
});

/** GET /openapi.json: this description. */
export const OpenApiDocument = Type.Object(
  {
    openapi: text,
    info: Type.Object({}),
    servers: Type.Array(Type.Object({})),
    tags: Type.Array(Type.Object({})),
    paths: Type.Object({}),
    components: Type.Object({}),
  },
  { description: 'An OpenAPI 3.1 document.' },
);
