import type { HttpApp } from '@pm/kit/http';
import { Deposits, hexBytes, parseMicro, type Transfer, type WalletAddress } from '@pm/schemas';
import type { Binding } from '../accounts/wallet-owners.ts';
import { operatorNameOf } from './audit.route.ts';
import type { OperatorPorts } from './ports.io.ts';
import { type RuleProblem, sendProblem } from './problems.io.ts';
import { addressOf } from './wallet-address.ts';
import { bindFailures, bindingErrors } from './wallet-owners.route.ts';

const depositsBodyMaxBytes = 512 * 1024;

type Deposit = Deposits['deposits'][number];

/**
 * POST /operator/deposits: money comes in, answered when it is durable; the ledger applies each transfer id once. Where
 * an item names an `owner` its wallet is bound first; when one of them has another owner, no money is written.
 */
export function addDepositsRoute(app: HttpApp, ports: OperatorPorts): void {
  const options = { schema: { body: Deposits }, bodyLimit: depositsBodyMaxBytes };
  app.post('/operator/deposits', options, async (request, reply) => {
    const { deposits } = request.body;
    const transfers = readTransfers(deposits, ports);
    if (!Array.isArray(transfers)) return await sendProblem(reply, transfers);
    const problem = await bindOwners(deposits, operatorNameOf(request), ports);
    if (problem !== null) return await sendProblem(reply, problem);
    await ports.writes.writeTransfers(transfers);
    return { accepted: transfers.length };
  });
}

/** The deposits as records, or what is wrong with the first bad one. */
function readTransfers(
  deposits: readonly Deposit[],
  { clock, owners }: OperatorPorts,
): Transfer[] | RuleProblem {
  const timeMs = clock.nowMs();
  const transfers: Transfer[] = [];
  for (const [index, deposit] of deposits.entries()) {
    const amountMicro = parseMicro(deposit.amount);
    if (amountMicro === null || amountMicro === 0) {
      return wrong(`/deposits/${index}/amount`, 'is no amount above 0');
    }
    const wallet = addressOf(deposit.wallet);
    if (!owners.takesDeposits(wallet)) {
      return wrong(`/deposits/${index}/wallet`, 'is a reserved address');
    }
    const transferId = Buffer.from(deposit.transferId.slice(2), 'hex');
    transfers.push({ transferId, wallet: hexBytes(wallet), amountMicro, timeMs, generation: 0 });
  }
  return transfers;
}

/** A binding that a deposit asks for, and where it stands in the body. */
interface AskedBinding extends Binding {
  readonly path: string;
}

/**
 * Binds the wallets whose owner is named; null when each of them is that owner's. All are judged before any is bound.
 */
async function bindOwners(
  deposits: readonly Deposit[],
  boundBy: string,
  { owners, bindings }: OperatorPorts,
): Promise<RuleProblem | null> {
  const asked = deposits.flatMap(({ wallet, owner }, index): AskedBinding[] => {
    if (owner === undefined) return [];
    const path = `/deposits/${index}/owner`;
    return [{ wallet: addressOf(wallet), owner: addressOf(owner), path }];
  });
  if (asked.length === 0) return null;
  const problem = contradictionIn(asked) ?? refusalIn(asked, (one) => owners.judge(one));
  if (problem !== null) return problem;
  const results = await bindings.bind(asked, boundBy);
  if (typeof results === 'string') return bindFailures[results];
  return refusalIn(asked, (_one, index) => results[index] ?? 'taken');
}

/** One wallet with two owners in one request. */
function contradictionIn(asked: readonly AskedBinding[]): RuleProblem | null {
  const named = new Map<WalletAddress, WalletAddress>();
  for (const { wallet, owner, path } of asked) {
    const other = named.get(wallet);
    if (other !== undefined && other !== owner) return wrong(path, 'differs from an owner before');
    named.set(wallet, owner);
  }
  return null;
}

function refusalIn(
  asked: readonly AskedBinding[],
  judge: (one: AskedBinding, index: number) => keyof typeof statuses | 'bound' | 'already' | 'free',
): RuleProblem | null {
  for (const [index, one] of asked.entries()) {
    const result = judge(one, index);
    if (result === 'bound' || result === 'already' || result === 'free') continue;
    const text = `${one.path}: ${bindingErrors[result]}`;
    return { status: statuses[result], text, path: one.path };
  }
  return null;
}

const statuses = { taken: 409, reserved: 400, own_address: 400 } as const;

function wrong(path: string, reason: string): RuleProblem {
  return { status: 400, text: `${path} ${reason}`, path };
}
