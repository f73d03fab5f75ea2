import type { Balance } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import type { LogProducer } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import { repeatCheck } from '@pm/kit/rounds';
import { hexBytes, type WalletAddress, type WithdrawalFreeze } from '@pm/schemas';

export interface SolvencyCheckOptions {
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

/** How often it checks, milliseconds; a breach is found within this of the fold. */
const checkMs = 250;

/**
 * The solvency check of the ledger. Only a hold that was too small can bring free money below zero, so the missing
 * money does not exist. The wallet is logged as an error and counted, and a record freezes its withdrawals until an
 * operator clears it. The record is written before the finding is acknowledged: after a crash in between it is written
 * again.
 */
export class SolvencyCheck {
  readonly #options: SolvencyCheckOptions;
  /** Wallets that were logged and counted and whose record is not durable yet. */
  readonly #reported = new Set<WalletAddress>();

  constructor(options: SolvencyCheckOptions) {
    this.#options = options;
  }

  /** Checks repeatedly until it is closed. */
  start(): { close(): Promise<void> } {
    const { log } = this.#options;
    const failure = 'solvency could not be checked';
    return repeatCheck(() => this.check(), { everyMs: checkMs, log, failure });
  }

  /** One check. */
  async check(): Promise<void> {
    for (const wallet of await this.#options.ledger.insolventWallets()) await this.#freeze(wallet);
  }

  async #freeze(wallet: WalletAddress): Promise<void> {
    const { ledger, producer, codec, topic, nowMs } = this.#options;
    const balance = await ledger.balance(wallet);
    if (!this.#reported.has(wallet)) this.#report(wallet, balance);
    const value = codec.encode({
      wallet: hexBytes(wallet),
      frozen: true,
      freeMicro: balance.freeMicro,
      reason: 'free money below zero',
      changedAtMs: nowMs(),
    });
    await producer.send([{ topic, partition: 0, key: Buffer.from(wallet, 'utf8'), value }]);
    await ledger.acknowledgeInsolvent(wallet);
    this.#reported.delete(wallet);
  }

  #report(wallet: WalletAddress, { freeMicro, heldMicro, pendingMicro }: Balance): void {
    const { log, onBreach } = this.#options;
    this.#reported.add(wallet);
    onBreach();
    log.error(
      { wallet, freeMicro, heldMicro, pendingMicro },
      'free money of a wallet was below zero: its withdrawals are being frozen (docs/operating/operator.md)',
    );
  }
}
