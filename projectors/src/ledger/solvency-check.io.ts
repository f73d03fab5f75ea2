import type { Balance } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import type { LogProducer } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import { repeatCheck } from '@pm/kit/rounds';
import { hexBytes, type WalletAddress, type WithdrawalFreeze } from '@pm/schemas';

export interface SolvencyParts {
  readonly ledger: Pick<Ledger, 'balance' | 'insolventWallets' | 'acknowledgeInsolvent'>;
  readonly producer: Pick<LogProducer, 'send'>;
  readonly codec: Pick<RecordCodec<WithdrawalFreeze>, 'encode'>;
  /** The topic `withdrawal-freezes` on the broker. */
  readonly topic: string;
  readonly log: Log;
  nowMs(): number;
  /** Counts a wallet that was found. */
  onBreach(): void;
}

/** How often it looks, milliseconds; a breach is found within this of the fold. */
const checkMs = 250;

/**
 * The solvency check of the ledger's fold. Free money below zero can come from nothing but a hold that was too small, so it
 * is money that is not there: an error with the wallet, a metric, and a record that freezes the wallet's withdrawals until
 * an operator clears it. The record is written before the finding is acknowledged, so a crash between writes it again.
 */
export class SolvencyRunner {
  readonly #parts: SolvencyParts;
  /** Wallets whose finding was reported and whose record is not durable yet. */
  readonly #reported = new Set<WalletAddress>();

  constructor(parts: SolvencyParts) {
    this.#parts = parts;
  }

  /** Looks from now on, until it is closed. */
  start(): { close(): Promise<void> } {
    const { log } = this.#parts;
    const failure = 'solvency could not be checked';
    return repeatCheck(() => this.check(), { everyMs: checkMs, log, failure });
  }

  /** One look. */
  async check(): Promise<void> {
    for (const wallet of await this.#parts.ledger.insolventWallets()) await this.#freeze(wallet);
  }

  async #freeze(wallet: WalletAddress): Promise<void> {
    const { ledger, producer, codec, topic, nowMs } = this.#parts;
    const balance = await ledger.balance(wallet);
    if (!this.#reported.has(wallet)) this.#report(wallet, balance);
    const { freeMicro } = balance;
    const reason = 'free money below zero';
    const record = { wallet: hexBytes(wallet), frozen: true, freeMicro, reason };
    const value = codec.encode({ ...record, changedAtMs: nowMs() });
    await producer.send([{ topic, partition: 0, key: Buffer.from(wallet, 'utf8'), value }]);
    await ledger.acknowledgeInsolvent(wallet);
    this.#reported.delete(wallet);
  }

  #report(wallet: WalletAddress, { freeMicro, heldMicro, pendingMicro }: Balance): void {
    const { log, onBreach } = this.#parts;
    this.#reported.add(wallet);
    onBreach();
    log.error(
      { wallet, freeMicro, heldMicro, pendingMicro },
      'free money of a wallet was below zero: its withdrawals are being frozen (docs/operating/operator.md)',
    );
  }
}
