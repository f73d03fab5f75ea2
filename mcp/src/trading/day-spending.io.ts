import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolRefusal } from '../server/tool.ts';
import { dayRefusal, type TradingLimits } from './limits.ts';
import { type DayFile, dayLinesMax, readDayFile, spendingLine } from './spending.ts';

/**
 * Amounts that the orders of the day can lose, in a file per wallet and day (UTC), so that a restart and other servers
 * of the same wallet count them too. An amount is on disk before its order is sent. Two servers may refuse each other
 * at the limit; together they never pass it, because each appends first and then reads the sum.
 */
export class DaySpending {
  readonly #folder: string;
  readonly #wallet: string;
  readonly #limits: TradingLimits;

  constructor(folder: string, wallet: string, limits: TradingLimits) {
    this.#folder = folder;
    this.#wallet = wallet;
    this.#limits = limits;
  }

  /** Micro-USDC of the orders of today; a refusal when the file cannot be read. */
  async usedMicro(): Promise<number | ToolRefusal> {
    const day = await readDay(this.#file());
    return day instanceof ToolRefusal ? day : day.usedMicro;
  }

  /** Counts an order; null when it may be sent. The same order counts once. */
  async reserve(orderId: string, riskMicro: number): Promise<ToolRefusal | null> {
    // One file, also when the day ends meanwhile.
    const file = this.#file();
    try {
      const before = await readDay(file);
      if (before instanceof ToolRefusal) return before;
      if (before.lines >= dayLinesMax) return unrecorded('the file of the day is full');
      await this.#append(file, orderId, riskMicro);
      const after = await readDay(file);
      if (after instanceof ToolRefusal) return after;
      const usedMicro = after.usedMicro - riskMicro;
      const refusal = dayRefusal(this.#limits, { usedMicro, riskMicro });
      if (refusal !== null) await this.#append(file, orderId, 0);
      return refusal;
    } catch (error) {
      return unrecorded(error instanceof Error ? error.message : String(error));
    }
  }

  /** The exchange refused the order for good: it counts no more. A failure leaves it counted. */
  async release(orderId: string): Promise<void> {
    await this.#append(this.#file(), orderId, 0).catch(() => undefined);
  }

  #file(): string {
    const day = new Date().toISOString().slice(0, 10);
    return join(this.#folder, `${this.#wallet}-${day}.jsonl`);
  }

  async #append(file: string, orderId: string, micro: number): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const handle = await open(file, 'a', 0o600);
    try {
      await handle.writeFile(spendingLine(orderId, micro));
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

/** A day without a file has no orders. */
async function readDay(file: string): Promise<DayFile | ToolRefusal> {
  let text = '';
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      return unrecorded(error instanceof Error ? error.message : String(error));
    }
  }
  return readDayFile(text) ?? unrecorded(`${file} has a line that is not of this server`);
}

function unrecorded(reason: string): ToolRefusal {
  return new ToolRefusal(
    'spending_unrecorded',
    `what orders can lose today cannot be kept, so nothing is placed: ${reason}`,
  );
}
