import * as account from '@pm/schemas/http/account';
import * as approvals from '@pm/schemas/http/approvals';
import * as batches from '@pm/schemas/http/batches';
import * as catalog from '@pm/schemas/http/catalog';
import * as catalogLists from '@pm/schemas/http/catalog-lists';
import * as catalogResponses from '@pm/schemas/http/catalog-responses';
import * as clobMarkets from '@pm/schemas/http/clob-markets';
import * as commentResponses from '@pm/schemas/http/comment-responses';
import * as comments from '@pm/schemas/http/comments';
import * as errorBodies from '@pm/schemas/http/error-bodies';
import * as forms from '@pm/schemas/http/forms';
import * as health from '@pm/schemas/http/health';
import * as keyResponses from '@pm/schemas/http/key-responses';
import * as keys from '@pm/schemas/http/keys';
import * as notifications from '@pm/schemas/http/notifications';
import * as operator from '@pm/schemas/http/operator';
import * as operatorCatalog from '@pm/schemas/http/operator-catalog';
import * as operatorResponses from '@pm/schemas/http/operator-responses';
import * as orderFinding from '@pm/schemas/http/order-finding';
import * as privateReading from '@pm/schemas/http/private-reading';
import * as limits from '@pm/schemas/http/rate-limits';
import * as reading from '@pm/schemas/http/reading';
import * as reportLists from '@pm/schemas/http/report-lists';
import * as reports from '@pm/schemas/http/reports';
import * as rewards from '@pm/schemas/http/rewards';
import * as sessions from '@pm/schemas/http/sessions';
import * as streams from '@pm/schemas/http/streams';
import * as trading from '@pm/schemas/http/trading';
import * as clientFrames from '@pm/schemas/streams/client-frames';
import * as familyFrames from '@pm/schemas/streams/family-frames';
import * as familyMessages from '@pm/schemas/streams/family-messages';
import * as messages from '@pm/schemas/streams/messages';
import * as ownMessages from '@pm/schemas/streams/own-messages';
import * as serverFrames from '@pm/schemas/streams/server-frames';
import { Type } from 'typebox';

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
