import type { Balance, MarketBreach } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import type { LogProducer } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import { repeatCheck } from '@pm/kit/rounds';
import { hexBytes, type WalletAddress } from '@pm/schemas/ids';
import { everyWallet, type WithdrawalFreeze } from '@pm/schemas/log/accounts';

export interface SolvencyCheckOptions {
  readonly ledger: Pick<
    Ledger,
    'balance' | 'insolventWallets' | 'acknowledgeInsolvent' | 'marketBreaches' | 'acknowledgeBreach'
  >;
  readonly producer: Pick<LogProducer, 'send'>;
  readonly codec: Pick<RecordCodec<WithdrawalFreeze>, 'encode'>;
  /** The topic `withdrawal-freezes` on the broker. */
  readonly topic: string;
  readonly log: Log;
  nowMs(): number;
  /** Counts a wallet or a market that was found. */
  onBreach(): void;
}

/** How often it checks, milliseconds; a breach is found within this of the fold. */
const checkMs = 250;

/** A finding, and what is done about it. */
interface Finding {
  /** Names it among the findings of this process. */
  readonly name: string;
  report(): void;
  /** Wallets to freeze. */
  readonly wallets: readonly WalletAddress[];
  readonly freeMicro: number;
  readonly reason: string;
  acknowledge(): Promise<void>;
}

/**
 * The solvency check of the ledger. Only a hold that was too small can bring free money below zero, and only a defect
 * of the matcher can make the tokens of a market differ from the USDC locked for them: what is missing does not exist.
 *
 * The script of the fold notes both with each batch. A wallet below zero is frozen and closed; a market with a gap
 * freezes the withdrawals of every wallet, because its tokens may be anyone's by now, and closes the wallets whose
 * records made it. Each finding is logged as an error and counted. It is acknowledged a round after its records are
 * durable: until then the script refuses withdrawals, so that none is paid while ingress reads the records. After a
 * crash in between they are written again.
 */
export class SolvencyCheck {
  readonly #options: SolvencyCheckOptions;
  /** Findings that were logged and counted and are not acknowledged yet. */
  readonly #reported = new Set<string>();
  /** Names of the reported findings whose freeze records are durable. */
  readonly #written = new Set<string>();

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
    const { ledger } = this.#options;
    for (const breach of await ledger.marketBreaches()) await this.#handle(this.#market(breach));
    for (const wallet of await ledger.insolventWallets())
      await this.#handle(this.#wallet(wallet, await ledger.balance(wallet)));
  }

  async #handle(finding: Finding): Promise<void> {
    const { name } = finding;
    if (!this.#reported.has(name)) {
      this.#reported.add(name);
      this.#options.onBreach();
      finding.report();
    }
    if (!this.#written.has(name)) {
      await this.#freeze(finding);
      this.#written.add(name);
      return;
    }
    await finding.acknowledge();
    this.#reported.delete(name);
    this.#written.delete(name);
  }

  async #freeze({ wallets, freeMicro, reason }: Finding): Promise<void> {
    const { producer, codec, topic, nowMs } = this.#options;
    const facts = { frozen: true, unsound: true, freeMicro, reason, changedAtMs: nowMs() };
    const records = wallets.map((wallet) => {
      const value = codec.encode({ ...facts, wallet: hexBytes(wallet) });
      return { topic, partition: 0, key: Buffer.from(wallet, 'utf8'), value };
    });
    await producer.send(records);
  }

  #wallet(wallet: WalletAddress, { freeMicro, heldMicro, pendingMicro }: Balance): Finding {
    const { log, ledger } = this.#options;
    const facts = { wallet, freeMicro, heldMicro, pendingMicro };
    return {
      name: wallet,
      wallets: [wallet],
      freeMicro,
      reason: 'free money below zero',
      report: () => log.error(facts, `free money of a wallet was below zero ${measures}`),
      acknowledge: () => ledger.acknowledgeInsolvent(wallet),
    };
  }

  #market(breach: MarketBreach): Finding {
    const { log, ledger } = this.#options;
    const { market, gap0Micro, gap1Micro, place, suspects, entry } = breach;
    const facts = { market, gap0Micro, gap1Micro, place, suspects: suspects.length };
    return {
      name: `${market} ${entry}`,
      wallets: [everyWallet, ...suspects],
      freeMicro: 0,
      reason: `market ${market} does not add up at ${place}: ${gap0Micro} and ${gap1Micro} too much`,
      report: () => log.error(facts, `a market does not add up ${measures}`),
      acknowledge: () => ledger.acknowledgeBreach(breach),
    };
  }
}

const measures = 'and is being frozen (docs/operating/operator.md)';
