import { Type } from 'typebox';
import * as account from '../http/account.ts';
import * as approvals from '../http/approvals.ts';
import * as batches from '../http/batches.ts';
import * as catalog from '../http/catalog.ts';
import * as catalogLists from '../http/catalog-lists.ts';
import * as catalogResponses from '../http/catalog-responses.ts';
import * as clobMarkets from '../http/clob-markets.ts';
import * as commentResponses from '../http/comment-responses.ts';
import * as comments from '../http/comments.ts';
import * as errorBodies from '../http/error-bodies.ts';
import * as forms from '../http/forms.ts';
import * as health from '../http/health.ts';
import * as keyResponses from '../http/key-responses.ts';
import * as keys from '../http/keys.ts';
import * as notifications from '../http/notifications.ts';
import * as operator from '../http/operator.ts';
import * as operatorCatalog from '../http/operator-catalog.ts';
import * as operatorResponses from '../http/operator-responses.ts';
import * as orderFinding from '../http/order-finding.ts';
import * as privateReading from '../http/private-reading.ts';
import * as limits from '../http/rate-limits.ts';
import * as reading from '../http/reading.ts';
import * as reportLists from '../http/report-lists.ts';
import * as reports from '../http/reports.ts';
import * as rewards from '../http/rewards.ts';
import * as sessions from '../http/sessions.ts';
import * as streams from '../http/streams.ts';
import * as trading from '../http/trading.ts';
import * as clientFrames from '../streams/client-frames.ts';
import * as familyFrames from '../streams/family-frames.ts';
import * as familyMessages from '../streams/family-messages.ts';
import * as messages from '../streams/messages.ts';
import * as ownMessages from '../streams/own-messages.ts';
import * as serverFrames from '../streams/server-frames.ts';

const modules: readonly object[] = [
  account,
  approvals,
  batches,
  catalog,
  catalogResponses,
  catalogLists,
  clientFrames,
  clobMarkets,
  commentResponses,
  comments,
  errorBodies,
  familyFrames,
  familyMessages,
  health,
  keyResponses,
  keys,
  limits,
  messages,
  notifications,
  operator,
  operatorResponses,
  operatorCatalog,
  orderFinding,
  ownMessages,
  privateReading,
  reading,
  reportLists,
  reports,
  rewards,
  serverFrames,
  sessions,
  streams,
  trading,
];

/** Names of shared schemas: those they are exported under. */
const names: ReadonlyMap<unknown, string> = new Map(
  [
    ...modules.flatMap((module) => Object.entries(module)),
    ['ConditionId', forms.conditionId] as const,
    ['TokenId', forms.tokenId] as const,
    ['Address', forms.address] as const,
    ['OrderId', forms.orderId] as const,
    ['DateTime', forms.dateTime] as const,
    ['Decimal', forms.decimal] as const,
    ['UnixSeconds', forms.seconds] as const,
  ].flatMap(([name, value]) => (Type.IsSchema(value) ? [[value, name] as const] : [])),
);

/** Collects the shared schemas that a document uses, and refers to them. */
export class Components {
  readonly #used = new Map<string, unknown>();
  readonly #responses = new Map<string, object>();

  /** The schema as JSON: a reference where it is a shared one. */
  refer(schema: unknown): unknown {
    const name = names.get(schema);
    if (name === undefined) return this.#copied(schema);
    if (!this.#used.has(name)) {
      // Reserved first, so that a schema inside itself ends.
      this.#used.set(name, null);
      this.#used.set(name, this.#copied(schema));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** A response that many operations have: a reference, unless another one has the name. */
  referResponse(name: string, response: object): object {
    const known = this.#responses.get(name) ?? response;
    if (JSON.stringify(known) !== JSON.stringify(response)) return response;
    this.#responses.set(name, response);
    return { $ref: `#/components/responses/${name}` };
  }

  responses(): Readonly<Record<string, object>> {
    return sorted(this.#responses);
  }

  /** All that were referred to, by name. */
  schemas(): Readonly<Record<string, unknown>> {
    return sorted(this.#used);
  }

  #copied(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.refer(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, this.refer(inner)]),
    );
  }
}

function sorted<T>(by: ReadonlyMap<string, T>): Readonly<Record<string, T>> {
  return Object.fromEntries([...by].sort(([left], [right]) => (left < right ? -1 : 1)));
}
