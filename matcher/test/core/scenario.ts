import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { Command, PlaceOrder } from '@pm/schemas/log/orders';
import type { MarketMode, Side, TimeInForce } from '@pm/schemas/log/types';
import { Engine } from '../../src/core/index.ts';
import {
  cancelAll,
  envelopeOf,
  feeWallet,
  marketRules,
  oneShareMicro,
  opening,
  orderOf,
  partition,
  requestIdOf,
  signerOf,
  splitOf,
  startMs,
  walletOf,
} from './commands.ts';

/**
 * Scenarios of a book: one line is one record.
 *
 *   market [tick=0.01] [fee=BPS] [mode=OPEN] [delay=SECONDS]    lists market 1 or changes its rules
 *   all MODE                                     the mode for all markets
 *   resolve PRICE                                the payout of YES
 *   NAME splits SHARES                           creates pairs
 *   NAME BUY|SELL YES|NO SHARES @ PRICE [GTC|GTD+SECONDS|FOK|FAK] [post-only] [budget=USDC] [hold=USDC]
 *     [oldest|both|allow]                        instead of canceling the newest of one wallet
 *   NAME cancels N                               the N-th order of the scenario
 *   NAME cancels all                             and fences what comes later
 *   NAME redeems
 *   again N                                      the N-th order once more
 *   clock +SECONDS
 *   book                                         shows levels in terms of YES, best first
 *   money                                        shows free/held of every wallet since the start
 */
export class ScenarioRunner {
  readonly engine = new Engine(partition);
  private readonly names: string[] = [];
  private readonly levels = new Map<string, number>();
  private readonly money = new Map<string, [free: number, held: number]>();
  private readonly orders: PlaceOrder[] = [];
  private records = 0;
  private clockMs = startMs;

  constructor() {
    this.engine.apply(envelopeOf([opening], 'OPERATOR'), 0);
  }

  run(line: string): string {
    const words = line.split(' ');
    if (line === 'book') return this.bookText();
    if (line === 'money') return this.moneyText();
    const command = this.commandOf(words);
    const isRule = ['SetMarket', 'SetTradingMode', 'ResolveMarket'].includes(command.kind);
    this.records += 1;
    const envelope = envelopeOf([command], isRule ? 'OPERATOR' : 'INGRESS');
    const { events } = this.engine.apply(envelope, this.records);
    for (const event of events) this.fold(event);
    return events.flatMap((event) => this.eventText(event)).join(', ');
  }

  private commandOf(words: readonly string[]): Command {
    const [first = '', verb = '', third = ''] = words;
    if (first === 'market') return rulesOf(words);
    if (first === 'all') return { kind: 'SetTradingMode', mode: verb as MarketMode };
    if (first === 'again') return this.orders[Number(verb) - 1] as PlaceOrder;
    if (first === 'resolve') {
      return { kind: 'ResolveMarket', market: 1, payout0: Math.round(Number(verb) * 10_000) };
    }
    if (first === 'clock') {
      this.clockMs += Number(verb) * 1_000;
      return { kind: 'Tick', term: 0, timeMs: this.clockMs };
    }
    if (verb === 'splits')
      return splitOf(1_000 + this.number(first), this.number(first), micro(third));
    if (verb === 'redeems') {
      const wallet = walletOf(this.number(first));
      return { kind: 'RedeemPosition', requestId: requestIdOf(this.records), wallet, market: 1 };
    }
    if (third === 'all') {
      return cancelAll({ signer: signerOf(this.number(first)), acceptedAtMs: this.clockMs });
    }
    if (verb === 'cancels') {
      const { orderId } = orderOf(Number(third), 0);
      return { kind: 'CancelOrder', orderId, signer: signerOf(this.number(first)) };
    }
    return this.orderFrom(words);
  }

  private orderFrom(words: readonly string[]): PlaceOrder {
    const [name = '', side = '', token = '', shares = '', , price = '', ...options] = words;
    const order = orderOf(this.orders.length + 1, this.number(name), {
      side: side as Side,
      outcome: token === 'YES' ? 0 : 1,
      sizeMicro: micro(shares),
      price: Math.round(Number(price) * 10_000),
      acceptedAtMs: this.clockMs,
    });
    this.orders.push(Object.assign(order, ...options.map((option) => this.optionOf(option))));
    return this.orders[this.orders.length - 1] as PlaceOrder;
  }

  private optionOf(option: string): Partial<PlaceOrder> {
    const [name = '', value = ''] = option.split(/[=+]/);
    if (name === 'post-only') return { postOnly: true };
    const selfTrade = selfTrades[name as keyof typeof selfTrades];
    if (selfTrade !== undefined) return { selfTrade };
    if (name === 'budget') return { budgetMicro: micro(value) };
    if (name === 'hold') return { holdMicro: micro(value) };
    const expiresAtMs = name === 'GTD' ? this.clockMs + Number(value) * 1_000 : 0;
    return { timeInForce: name as TimeInForce, expiresAtMs };
  }

  private number(name: string): number {
    if (!this.names.includes(name)) this.names.push(name);
    return this.names.indexOf(name);
  }

  private nameOf(wallet: Buffer): string {
    if (wallet.equals(feeWallet)) return 'fees';
    return this.names.find((_name, number) => walletOf(number).equals(wallet)) ?? 'no name';
  }

  private fold(event: ExecutionEvent): void {
    if (event.kind === 'LevelChanged') {
      this.levels.set(`${event.side} ${event.price}`, event.sizeMicro);
    }
    if (event.kind !== 'MoneyMoved') return;
    const name = this.nameOf(event.wallet);
    const [free, held] = this.money.get(name) ?? [0, 0];
    this.money.set(name, [free + event.freeMicro, held + event.heldMicro]);
  }

  private eventText(event: ExecutionEvent): string[] {
    switch (event.kind) {
      case 'Fill': {
        const fee = event.feeMicro === 0 ? '' : ` fee ${units(event.feeMicro)}`;
        const price = event.takerPrice / 10_000;
        return [
          `${event.match} ${this.nameOf(event.maker)} ${units(event.sizeMicro)} @ ${price}${fee}`,
        ];
      }
      case 'OrderPlaced':
        return [event.status];
      case 'OrderDelayed':
        return ['delayed'];
      case 'OrderRepeated':
        return [`again ${event.code ?? event.status}, ${event.fillCount} fills`];
      case 'OrderCanceled':
        return [`${this.nameOf(event.maker)} ${event.reason} ${units(event.restMicro)}`];
      case 'PositionMoved':
        return [event.action];
      default:
        return 'code' in event ? [String(event.code)] : [];
    }
  }

  private bookText(): string {
    const side = (name: Side, direction: number): string =>
      [...this.levels]
        .filter(([level, size]) => level.startsWith(name) && size > 0)
        .map(([level, size]) => ({ price: Number(level.split(' ')[1]), size }))
        .sort((a, b) => direction * (a.price - b.price))
        .map(({ price, size }) => `${units(size)} @ ${price / 10_000}`)
        .join(' ');
    return `bids ${side('BUY', -1)} asks ${side('SELL', 1)}`;
  }

  private moneyText(): string {
    return [...this.money]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, [free, held]]) => `${name} ${units(free)}/${units(held)}`)
      .join(', ');
  }
}

function rulesOf(words: readonly string[]): Command {
  const options = Object.fromEntries(words.slice(1).map((word) => word.split('='))) as Rules;
  return marketRules(1, {
    tick: Math.round(Number(options.tick ?? '0.01') * 10_000),
    feeRateBps: Number(options.fee ?? '0'),
    mode: options.mode ?? 'OPEN',
    takerDelayMs: Number(options.delay ?? '0') * 1_000,
  });
}

interface Rules {
  readonly tick?: string;
  readonly fee?: string;
  readonly mode?: MarketMode;
  readonly delay?: string;
}

const selfTrades = { oldest: 'CANCEL_OLDEST', both: 'CANCEL_BOTH', allow: 'ALLOW' } as const;

function micro(text: string): number {
  return Math.round(Number(text) * oneShareMicro);
}

function units(amountMicro: number): number {
  return amountMicro / oneShareMicro;
}
