import { readRange } from '@pm/kit/kafka';
import { readValue, topicName } from '@pm/kit/registry';
import type { AuditRecord } from '@pm/schemas/log/audit';
import type { CommandOf } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import type { LogPlace } from '../installation/fee-wallet.ts';

export type TradingMode = CommandOf<'SetTradingMode'>['mode'];

/** How the audit names the request that sets the mode of all markets. */
const modeAction = 'POST /operator/trading-mode';
const modes: readonly TradingMode[] = ['OPEN', 'POST_ONLY', 'CANCEL_ONLY', 'HALTED'];

/** The mode of all markets that operators asked for last, by the audit. Partitions that are added begin with it. */
export async function readTradingMode(place: LogPlace): Promise<TradingMode> {
  const { client, schemas, topicPrefix } = place;
  const topic = topicName(topics.audit, topicPrefix);
  const admin = await client.admin();
  const bounds = await admin.bounds(topic).finally(() => admin.close());
  const { low = 0, high = 0 } = bounds.get(0) ?? {};
  const reader = schemas.readerFor(topics.audit);
  const asked = new AskedModes();
  await readRange(client, {
    topic,
    partition: 0,
    from: low,
    to: high,
    onBatch: async ({ records }) => {
      for (const { value } of records) {
        const record = await readValue(reader, value, () => null);
        if (record !== null) asked.take(record);
      }
    },
  });
  return asked.newest;
}

/** The modes that were asked for, in the order of the audit. */
export class AskedModes {
  readonly #byId = new Map<string, TradingMode>();

  /**
   * Takes a record of the audit. The second of the two records of a request says whether the request was refused. A
   * mode that was set in only some partitions counts as set.
   */
  take({ id, action, body, status }: Pick<AuditRecord, 'id' | 'action' | 'body' | 'status'>): void {
    if (action !== modeAction) return;
    if (status >= 400 && status < 500) {
      this.#byId.delete(id);
      return;
    }
    const mode = modeOf(body);
    if (mode !== null) this.#byId.set(id, mode);
  }

  get newest(): TradingMode {
    return [...this.#byId.values()].at(-1) ?? 'OPEN';
  }
}

function modeOf(body: string): TradingMode | null {
  try {
    const sent: unknown = JSON.parse(body);
    const asked: unknown = typeof sent === 'object' && sent !== null && Reflect.get(sent, 'mode');
    return modes.find((mode) => mode === asked) ?? null;
  } catch {
    return null;
  }
}
