import type { Command } from '@pm/schemas/log/orders';
import type { KeyRole } from '@pm/schemas/log/types';

interface Key {
  readonly publicKey: Buffer;
  role: KeyRole;
  active: boolean;
}

/** Result of a record: why it is rejected, or the numbers of its commands about keys and rules that count. */
export type KeyResult = 'UNKNOWN_KEY' | 'NOT_ALLOWED' | readonly number[];

const market = ['SetMarket', 'ResolveMarket', 'StartGeneration', 'CancelOrders', 'SetTradingMode'];
const ofUsers = [
  'PlaceOrder',
  'CancelOrder',
  'CancelByIds',
  'CancelOrders',
  'SplitPosition',
  'MergePosition',
  'RedeemPosition',
];

/** Who may sign what in a partition, said once more and as plainly as possible. */
export class NaiveKeys {
  readonly list: Key[] = [];
  rules = 0;
  readonly #opening: Buffer;

  constructor(opening: Buffer) {
    this.#opening = opening;
    this.list.push({ publicKey: opening, role: 'OPERATOR', active: true });
  }

  take(signer: Buffer, commands: readonly Command[]): KeyResult {
    const key = this.find(signer);
    if (key?.active !== true) return 'UNKNOWN_KEY';
    if (!commands.every(({ kind }) => this.#mayCommand(key, kind))) return 'NOT_ALLOWED';
    return commands.flatMap((command, index) => (this.#counts(command) ? [index] : []));
  }

  find(publicKey: Buffer): Key | undefined {
    return this.list.find((one) => one.publicKey.equals(publicKey));
  }

  #mayCommand({ publicKey, role }: Key, kind: Command['kind']): boolean {
    if (publicKey.equals(this.#opening))
      return [...market, 'OpenPartition', 'SetKey', 'SetRules'].includes(kind);
    if (role === 'OPERATOR') return market.includes(kind);
    if (role === 'LEDGER') return kind === 'StartGeneration';
    if (role === 'OWNER') return kind === 'Tick' || (kind === 'ClaimPartition' && this.rules >= 6);
    return ofUsers.includes(kind) || (kind === 'Tick' && this.rules >= 3);
  }

  #counts(command: Command): boolean {
    if (command.kind === 'SetRules') {
      if (command.version <= this.rules) return false;
      this.rules = command.version;
      return true;
    }
    if (command.kind !== 'SetKey') return false;
    const { publicKey, role, active } = command;
    if (publicKey.equals(this.#opening)) return false;
    if (role === 'OPERATOR' && this.rules < 4) return false;
    const known = this.find(publicKey);
    if (known === undefined) this.list.push({ publicKey, role, active });
    else Object.assign(known, { role, active });
    return true;
  }
}
