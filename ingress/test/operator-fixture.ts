import { setImmediate as nextTurn } from 'node:timers/promises';
import { openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import {
  type AuditRecord,
  type CatalogEntry,
  type CatalogMarket,
  type Command,
  type ExecutionEvent,
  type Transfer,
  type WalletStatus,
  type WithdrawalFreeze,
  walletFromBytes,
} from '@pm/schemas';
import { AuditTrail } from '../src/core/audit-trail.ts';
import { CatalogIndex } from '../src/core/catalog-index.ts';
import { WalletStatuses } from '../src/core/wallet-statuses.ts';
import { WithdrawalFreezes } from '../src/core/withdrawal-freezes.ts';
import { Turns } from '../src/io/turn-store.ts';
import { WalletStatusStore } from '../src/io/wallet-status-store.ts';
import { WithdrawalFreezeStore } from '../src/io/withdrawal-freeze-store.ts';
import { CatalogTurns } from '../src/routes/operator/catalog-turns.ts';
import { addOperatorRoutes } from '../src/routes/operator/operator-door.ts';
import type { OperatorPorts } from '../src/routes/operator/ports.ts';
import type { CommandOutcome } from '../src/routes/ports.ts';
import { OwnersTopic } from './owners-fixture.ts';
import { crypto } from './signing-fixture.ts';
import { openSocial } from './social-fixture.ts';
import { MemoryTopic } from './table-fixture.ts';

export const token = 'an-operator-token-of-some-length';

/** What the matcher says when it carries a command out. */
export function carriedOut(command: Command): CommandOutcome {
  const kinds = {
    SetMarket: 'MarketSet',
    ResolveMarket: 'MarketResolved',
    SetTradingMode: 'TradingModeSet',
  } as Record<string, string>;
  const event = { ...command, kind: kinds[command.kind], command: 0 } as unknown as ExecutionEvent;
  return { kind: 'answered', place: { partition: 0, inOffset: 1 }, events: [{ index: 0, event }] };
}

/** The operator's door over a catalog in memory and a matcher that says yes. */
export async function openOperator(ownersTopic = new OwnersTopic()) {
  const catalog = new CatalogIndex();
  const written: CatalogEntry[] = [];
  const routed: CatalogMarket[] = [];
  const transfers: Transfer[] = [];
  const sent: { partition: number; command: Command }[] = [];
  const trail = new AuditTrail();
  const givenBack: string[] = [];
  const swept: string[] = [];
  const fakes = {
    swept: { canceled: 0, isUnconfirmed: false },
    withdrawn: 'reserved' as 'reserved' | 'conflict' | 'insufficient' | 'applied',
    answer: carriedOut as (command: Command) => CommandOutcome | Promise<CommandOutcome>,
    audit: (record: AuditRecord) => trail.take(record),
  };
  const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 };
  const statuses = new WalletStatuses();
  const freezes = new WithdrawalFreezes();
  const table = new MemoryTopic<WalletStatus>().open(statuses);
  const { owners, store: bindings } = ownersTopic.open({ nowMs: clock.nowMs });
  const walletStatus = new WalletStatusStore({ clock, statuses, table });
  const app = openHttp({ log: silentLog, bodyLimitBytes: 1 << 20 });
  const ports: OperatorPorts = {
    clock,
    keccak: crypto.keccak,
    token,
    catalog,
    partitions: 3,
    log: {
      run: async (partition, command) => {
        sent.push({ partition, command });
        return fakes.answer(command);
      },
    },
    writes: {
      writeRoutes: async (markets) => void routed.push(...markets),
      writeEntries: async (entries) => {
        // As long as a log takes: whatever else is under way goes on meanwhile.
        await nextTurn();
        written.push(...entries);
        for (const entry of entries) catalog.take(entry);
      },
      writeTransfers: async (more) => void transfers.push(...more),
    },
    turns: new CatalogTurns(new Turns()),
    ledger: {
      reserveWithdrawal: async ({ amountMicro }) => {
        const paidMicro = fakes.withdrawn === 'applied' ? amountMicro : 0;
        return { outcome: fakes.withdrawn, generation: 4, sender: 'sender', paidMicro };
      },
      cancelReservation: async ({ id }) => void givenBack.push(id),
      appliedTransfer: async (id) => {
        const found = transfers.find(({ transferId }) => `0x${transferId.toString('hex')}` === id);
        if (found === undefined) return null;
        const { wallet, amountMicro } = found;
        return { wallet: walletFromBytes(wallet), amountMicro, movedMicro: amountMicro };
      },
      balance: async () => ({ freeMicro: -2_500_000, availableMicro: -2_500_000 }),
    },
    freezes: new WithdrawalFreezeStore({
      clock,
      freezes,
      table: new MemoryTopic<WithdrawalFreeze>().open(freezes),
    }),
    transfers: {
      write: async (transfer) => {
        transfers.push(transfer);
        return 'written';
      },
    },
    walletStatus,
    owners,
    bindings,
    sweep: async (wallet) => {
      swept.push(wallet);
      return fakes.swept;
    },
    audit: {
      append: async (record) => fakes.audit(record),
      onLost: () => {},
      page: (asked) => trail.page(asked),
    },
    comments: openSocial(catalog, { nowMs: () => 0 }).comments,
    status: () => ({ fine: true }),
  };
  addOperatorRoutes(app, ports);
  await app.ready();
  const post = async (
    url: string,
    payload: object,
    headers: Record<string, string> = { authorization: `Bearer ${token}` },
  ) => {
    const answer = await app.inject({ method: 'POST', url, payload, headers });
    return { status: answer.statusCode, body: answer.json() };
  };
  const send = (method: 'PUT' | 'PATCH') => async (url: string, payload: object) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await app.inject({ method, url, payload, headers });
    return { status: answer.statusCode, body: answer.json() };
  };
  return {
    app,
    ports,
    owners,
    post,
    get: async (url: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await app.inject({ method: 'GET', url, headers });
      return { status: answer.statusCode, body: answer.json() };
    },
    put: send('PUT'),
    patch: send('PATCH'),
    catalog,
    written,
    routed,
    transfers,
    sent,
    swept,
    givenBack,
    fakes,
  };
}

export const market = (slug: string, more: object = {}) => ({
  slug,
  question: `${slug}?`,
  ...more,
});
export const event = (slug: string, markets: object[], more: object = {}) => ({
  slug,
  title: slug,
  markets,
  ...more,
});
