import type { Type } from 'typebox';
import { sample } from './forms.ts';

/** A schema as JSON Schema words it. */
interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly pattern?: string;
}

const picture = 'https://example.com/picture.png';

/** Values of texts whose schema says no more than that they are texts, by the name of the field. */
const texts: Readonly<Record<string, string>> = {
  asset: sample.token,
  asset_id: sample.token,
  assetId: sample.token,
  token: sample.token,
  tokenId: sample.token,
  oppositeAsset: sample.otherToken,
  market: sample.condition,
  conditionId: sample.condition,
  condition_id: sample.condition,
  question_id: sample.condition,
  questionID: sample.condition,
  builder: sample.condition,
  id: '1',
  order_id: sample.order,
  orderID: sample.order,
  orderHash: sample.order,
  likelyHash: sample.order,
  taker_order_id: sample.order,
  takerOrderHash: sample.order,
  transaction_hash: sample.order,
  transferId: sample.order,
  request_id: sample.order,
  owner: sample.apiKey,
  status: 'LIVE',
  side: 'BUY',
  proxyWallet: sample.wallet,
  maker_address: sample.wallet,
  makerAddress: sample.wallet,
  userAddress: sample.wallet,
  baseAddress: sample.wallet,
  address: sample.wallet,
  wallet: sample.wallet,
  maker: sample.wallet,
  asset_address: sample.wallet,
  outcome: 'Yes',
  oppositeOutcome: 'No',
  title: 'Rain in Lisbon this week?',
  question: 'Rain on Monday?',
  slug: 'rain-monday',
  market_slug: 'rain-monday',
  eventSlug: 'rain-in-lisbon',
  event_slug: 'rain-in-lisbon',
  ticker: 'rain-in-lisbon',
  label: 'Weather',
  description: 'Yes if the station in Lisbon measures rain.',
  name: 'Ada',
  userName: 'Ada',
  pseudonym: 'Brave-Heron',
  icon: picture,
  image: picture,
  profileImage: picture,
  order_type: 'GTC',
  type: 'TRADE',
  fee_rate_bps: '315',
  expiration: '0',
  amount: '10',
  secret: 'dGhpcnR5LXR3byBieXRlcyBvZiBzZWNyZXQsIHNob3c=',
  passphrase: '5f'.repeat(32),
  reason: 'canceled',
};

/** A value of a schema: the first of its examples, else one made field by field. The same for the same schema. */
export function exampleOf(schema: Type.TSchema): unknown {
  return sampleFrom(schema as Schema, '');
}

function sampleFrom(schema: Schema, name: string): unknown {
  const { examples, anyOf, type } = schema;
  if ('const' in schema) return schema.const;
  if (examples?.[0] !== undefined) return examples[0];
  if (schema.enum !== undefined) return schema.enum[0];
  if (anyOf?.[0] !== undefined) return sampleFrom(anyOf[0], name);
  if (type === 'object') return objectOf(schema);
  if (type === 'array') return listOf(schema, name);
  if (type === 'boolean') return false;
  if (type === 'string') return textOf(schema, name);
  return type === 'null' ? null : (schema.minimum ?? 1);
}

function objectOf({ properties = {} }: Schema): object {
  const entries = Object.entries(properties);
  return Object.fromEntries(entries.map(([name, of]) => [name, sampleFrom(of, name)]));
}

function listOf({ items, minItems = 1, maxItems }: Schema, name: string): readonly unknown[] {
  if (items === undefined || maxItems === 0) return [];
  return Array.from({ length: Math.max(1, minItems) }, () => sampleFrom(items, name));
}

/** Texts of a pattern without an example are few: hashes, arrays as text and counts. */
function textOf({ pattern }: Schema, name: string): string {
  if (pattern === undefined) return texts[name] ?? 'text';
  if (pattern.startsWith('^\\[')) return '["Yes","No"]';
  if (pattern.includes('{64}')) return sample.order;
  if (pattern.includes('{40}')) return pattern.startsWith('^0x') ? sample.wallet : '0'.repeat(40);
  return texts[name] !== undefined && new RegExp(pattern).test(texts[name]) ? texts[name] : '0';
}
