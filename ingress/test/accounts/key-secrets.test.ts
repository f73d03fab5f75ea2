import type { KeySecrets } from '@pm/domain/accounts/derive-keys';
import type { WalletAddress } from '@pm/schemas/ids';
import { AccountTopics } from '../accounts-fixture.ts';
import {
  answered,
  call,
  type IngressUnderTest,
  openIngress,
  owner,
  trioIn,
} from '../ingress-fixture.ts';
import { OwnersTopic } from '../owners-fixture.ts';
import { RetryMemory } from '../retry-fixture.ts';

const wallet = owner.address as WalletAddress;
const [former, next] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

/** The steps of a rotation; every process is restarted with the secrets of each. */
const steps: readonly KeySecrets[] = [
  { present: former, others: [] },
  { present: former, others: [next] },
  { present: next, others: [former] },
];

const accounts = new AccountTopics();
const owners = new OwnersTopic();

async function openWith(secrets: KeySecrets): Promise<IngressUnderTest> {
  accounts.secrets = secrets;
  const ingress = await openIngress(owners, 0, new RetryMemory(), accounts);
  ingress.fakes.answer = () => answered([]);
  return ingress;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

type Trio = IngressUnderTest['trio'];

/** Statuses of a private request to each process with each key. */
async function statusesOf(processes: readonly IngressUnderTest[], trios: readonly Trio[]) {
  const requests = processes.flatMap((ingress) =>
    trios.map((trio) => call(ingress, { method: 'DELETE', url: '/cancel-all', trio })),
  );
  return (await Promise.all(requests)).map(({ status }) => status);
}

test('no request of a good key is refused while the secret is rotated process by process', async () => {
  const [first] = steps;
  if (first === undefined) throw new Error('there is a first step');
  let processes = [await openWith(first), await openWith(first)];
  const trios = processes.map(({ trio }) => trio);
  const readKey = String(await processes[0]?.stores.readOnlyKeys.create(wallet));
  for (const [number, place] of [0, 1, 2].flatMap((step) =>
    [0, 1].map((at) => [step, at] as const),
  )) {
    const restarted = await openWith(steps[number] ?? first);
    processes = processes.map((ingress, at) => (at === place ? restarted : ingress));
    trios.push(trioIn(await restarted.keys.create(wallet, `${number + 1}${place}`)));
    await settled();
    expect(new Set(await statusesOf(processes, trios))).toEqual(new Set([200]));
    expect(processes.map(({ keys }) => keys.derive(wallet, '0'))).toEqual([trios[0], trios[0]]);
    const lists = processes.map(({ stores }) => stores.readOnlyKeys.list(wallet));
    expect(lists).toEqual([[readKey], [readKey]]);
  }
});

test('a secret that is taken away takes its keys with it, and their nonces get others', async () => {
  const ingress = await openWith({ present: next, others: [] });
  const made = trioIn(await ingress.keys.create(wallet, '0'));
  expect((await call(ingress, { method: 'DELETE', url: '/cancel-all', trio: made })).status).toBe(
    200,
  );
  const old = await openWith({ present: next, others: [former] });
  expect(old.keys.derive(wallet, '0')).toEqual(made);
  expect(ingress.stores.readOnlyKeys.list(wallet)).toEqual([]);
});
