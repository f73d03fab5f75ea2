import type { ExecutionsPiece, ReserveResult, TransfersPiece } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { LedgerModel } from '@pm/domain/testing/ledger-model';
import { Fault } from '@pm/kit/fault';
import type { Defects } from '../defects.ts';
import type { Machine } from '../time/machine.ts';

/** The methods of the ledger that are requests to Redis. */
const methods = [
  'reserve',
  'cancelReservation',
  'applyExecutions',
  'applyTransfers',
  'reserveWithdrawal',
  'appliedTransfer',
  'newestWithdrawal',
  'releaseWithdrawals',
  'balance',
  'insolventWallets',
  'acknowledgeInsolvent',
  'marketBreaches',
  'acknowledgeBreach',
  'mark',
  'place',
  'generation',
  'state',
  'close',
  'planRebuild',
  'open',
] as const;

type Method = (typeof methods)[number];
type Change = readonly [Method, readonly unknown[]];

const reading: ReadonlySet<Method> = new Set<Method>([
  'appliedTransfer',
  'newestWithdrawal',
  'balance',
  'insolventWallets',
  'marketBreaches',
  'mark',
  'place',
  'generation',
  'state',
]);

/** Data of a server in memory, and the changes that led to it. */
interface Contents {
  model: LedgerModel;
  changes: Change[];
  /** The run of the server in which the ledger was opened. */
  openedIn: number;
  /** Senders by the names that callers know: no two runs of a server give one name twice. */
  senders: Map<string, string>;
}

/** A Redis that holds the collateral ledger: the model of the ledger's rule, which its scripts are compared with. */
export class LedgerServer {
  isAway = false;
  losses = 0;
  readonly #defects: Defects;
  #contents = emptyContents();
  #saved: Pick<Contents, 'changes' | 'openedIn' | 'senders'> | null = null;
  #run = 1;
  #names = 0;

  constructor(defects: Defects) {
    this.#defects = defects;
  }

  /** The ledger, for the judge. */
  get model(): LedgerModel {
    return this.#contents.model;
  }

  /** The server dies with all its data, and another one is there. */
  lose(): void {
    this.losses += 1;
    this.#run += 1;
    const { ready, generation } = this.model.state();
    this.#contents = emptyContents();
    this.#saved = null;
    if (ready && this.#defects.has('a lost ledger stays open')) this.#reopen(generation);
  }

  /** Remembers what a crash leaves of the data. */
  save(): void {
    const { changes, openedIn, senders } = this.#contents;
    this.#saved = { changes: [...changes], openedIn, senders: new Map(senders) };
  }

  /** Another run of the server, with the data of the last `save`. */
  rewind(): void {
    this.#run += 1;
    if (this.#saved === null) return;
    this.losses += 1;
    const contents = { ...emptyContents(), ...this.#saved };
    for (const change of contents.changes) attempt(contents.model, change);
    this.#contents = contents;
    this.#saved = null;
  }

  /** The ledger as code of a machine uses it. */
  client(machine: Machine): Ledger {
    const late = () => new Fault('redis_unavailable', 'retry');
    const request = { timeoutMs: 1_000, late };
    const ask = (run: () => unknown) =>
      machine.request<unknown>(request, (answer) => {
        if (this.isAway) return;
        try {
          answer.resolve(run());
        } catch (error) {
          answer.reject(error);
        }
      });
    const calls = methods.map((method) => [
      method,
      (...args: readonly unknown[]) => ask(() => this.#call(method, args)),
    ]);
    const isNoticed = !this.#defects.has('another run of Redis is not noticed');
    const isOfEarlierLife = () => ask(() => isNoticed && this.#contents.openedIn !== this.#run);
    return { ...Object.fromEntries(calls), isOfEarlierLife } as unknown as Ledger;
  }

  #call(method: Method, args: readonly unknown[]): unknown {
    const isOlder = this.#contents.openedIn !== this.#run && this.model.state().ready;
    if (isOlder && !this.#defects.has('another run of Redis is not noticed')) {
      if (method === 'reserve') return { outcome: 'not_ready', generation: 0, sender: '', mark: 0 };
      const refused = { outcome: 'not_ready', generation: 0, sender: '', paidMicro: 0 };
      if (method === 'reserveWithdrawal') return refused;
      if (method === 'applyTransfers') this.model.close();
    }
    const known = method === 'cancelReservation' ? [this.#sendOf(args[0])] : args;
    const result = this.#carryOut(method, known);
    if (!reading.has(method)) this.#contents.changes.push([method, known]);
    if (method === 'open' && result === true) this.#contents.openedIn = this.#run;
    return this.#named(result);
  }

  /** Carries a call out, as scripts with a defect would. */
  #carryOut(method: Method, args: readonly unknown[]): unknown {
    const { model } = this;
    if (method === 'applyExecutions') return this.#applyExecutions(args[0] as ExecutionsPiece);
    if (method === 'applyTransfers') return this.#applyTransfers(args[0] as TransfersPiece);
    const result = run(model, [method, args]);
    const isShort = (result as ReserveResult | null)?.outcome === 'insufficient';
    const isGenerous =
      (method === 'reserve' && this.#defects.has('money is reserved that is not there')) ||
      (method === 'reserveWithdrawal' &&
        this.#defects.has('a withdrawal holds money that is not there'));
    if (!isShort || !isGenerous) return result;
    return { ...(result as object), outcome: 'reserved', sender: 'none' };
  }

  #applyExecutions(piece: ExecutionsPiece): unknown {
    const { model } = this;
    const mark = model.mark('executions', piece.partition);
    const isGap = piece.fromOffset > mark;
    if (isGap && this.#defects.has('a gap in the executions is not noticed')) {
      const nothing = { answered: [], moves: [], markets: [], generation: 0 };
      model.applyExecutions({ ...piece, ...nothing, fromOffset: mark, toOffset: piece.fromOffset });
    }
    const isRash = this.#defects.has('holds are released while their orders are on the way');
    const isIdle = this.#defects.has('holds without orders are never released');
    const bookAgeLimitMs = isRash ? -10_000 : isIdle ? 1e12 : piece.bookAgeLimitMs;
    return model.applyExecutions({ ...piece, bookAgeLimitMs });
  }

  #applyTransfers(piece: TransfersPiece): unknown {
    const { model } = this;
    const isFresh = piece.fromOffset === model.mark('transfers', 0);
    const isTwice = isFresh && this.#defects.has('a transfer counts as often as it comes');
    const isPaid = this.#defects.has('a withdrawal of an earlier generation is paid');
    const transfers = piece.transfers.map((one, index) => {
      const isKnown = model.appliedTransfer(one.transferId) !== null;
      const id = { transferId: `${one.transferId}-${piece.fromOffset + index}` };
      const valid = { generation: 1e6, timeMs: 1e15 };
      const isVoidable = isPaid && one.amountMicro < 0;
      return { ...one, ...(isTwice && isKnown ? id : {}), ...(isVoidable ? valid : {}) };
    });
    return model.applyTransfers({ ...piece, transfers });
  }

  /** Gives a sender a name of its own. */
  #named(result: unknown): unknown {
    const sender = typeof result === 'object' && result !== null && Reflect.get(result, 'sender');
    if (typeof sender !== 'string' || sender === '') return result;
    this.#names += 1;
    const name = `sender-${this.#names}`;
    this.#contents.senders.set(name, sender);
    return { ...(result as object), sender: name };
  }

  #sendOf(send: unknown): unknown {
    const { sender, ...place } = send as { readonly sender: string };
    return { ...place, sender: this.#contents.senders.get(sender) ?? 'of an earlier run' };
  }

  #reopen(generation: number): void {
    const plan = { id: 'none', generation };
    const { model } = this;
    model.planRebuild(plan);
    const fence = { transferId: '0x0', wallet: '0x0', amountMicro: 0, timeMs: 0, generation };
    model.applyTransfers({ fromOffset: 0, toOffset: 1, transfers: [fence as never] });
    model.open(plan, []);
    this.#contents.openedIn = this.#run;
  }
}

function emptyContents(): Contents {
  return { model: new LedgerModel(), changes: [], openedIn: 0, senders: new Map() };
}

function run(model: LedgerModel, [method, args]: Change): unknown {
  const call = Reflect.get(model, method) as (...args: readonly unknown[]) => unknown;
  return call.apply(model, args as unknown[]);
}

function attempt(model: LedgerModel, change: Change): void {
  try {
    run(model, change);
  } catch {
    // It failed the first time, too.
  }
}
