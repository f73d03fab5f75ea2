import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { LogClient } from '../../src/kafka/index.ts';
import { engineUrl } from '../engines.ts';
import { until } from './deferred.ts';
import { freshName, freshTopic, outgoing, testClient } from './engine.ts';
import { joinRecorded } from './group-member.ts';

jest.setTimeout(40_000);

const sessionMs = 3_000;
const member = path.join(__dirname, 'group-member.mjs');
const built = path.join(__dirname, '../../dist/kafka/index.js');

let client: LogClient;
let children: ChildProcess[] = [];

beforeAll(() => {
  if (!existsSync(built))
    throw new Error('the kit is not built: run these through npm run test:engines');
});

beforeEach(() => {
  client = testClient();
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  await client.close();
});

/** A member in its own process, and the lines it has said so far. */
function startMember(
  groupId: string,
  topic: string,
  childSessionMs = sessionMs,
): { child: ChildProcess; lines: string[] } {
  const child = spawn(
    process.execPath,
    [member, engineUrl('KAFKA'), groupId, topic, String(childSessionMs)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  children.push(child);
  const lines: string[] = [];
  child.stdout?.on('data', (bytes) =>
    lines.push(
      ...String(bytes)
        .split('\n')
        .filter((line) => line !== ''),
    ),
  );
  return { child, lines };
}

test('a killed member is replaced when its session has ended', async () => {
  const topic = await freshTopic(client, { partitions: 2 });
  const groupId = freshName('group');
  const { child, lines } = startMember(groupId, topic);
  await until(() => lines.includes('assigned 1'), 'the child owns all');
  const survivor = await joinRecorded(client, { groupId, topic, sessionTimeoutMs: sessionMs });
  await until(() => survivor.group.owned().length === 1, 'they share');
  const startMs = performance.now();
  child.kill('SIGKILL');
  await until(() => survivor.group.owned().length === 2, 'the survivor owns all');
  const takenMs = performance.now() - startMs;
  process.stdout.write(
    `hand-over after a kill, session ${sessionMs} ms: ${Math.round(takenMs)} ms\n`,
  );
});

/** Longer than these tests wait: what happens sooner does not come from the end of a session. */
const longSessionMs = 25_000;
const soonMs = 5_000;

test('the successor of a killed member does not wait for the end of its session', async () => {
  const topic = await freshTopic(client, { partitions: 2 });
  const groupId = freshName('group');
  const { child, lines } = startMember(groupId, topic, longSessionMs);
  await until(() => lines.includes('assigned 1'), 'the child owns all');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const startMs = performance.now();
  const joining = joinRecorded(client, { groupId, topic, sessionTimeoutMs: sessionMs });
  let joined = false;
  void joining.then(() => {
    joined = true;
  });
  await until(() => joined, 'it has joined', soonMs);
  process.stdout.write(`join after a kill: ${Math.round(performance.now() - startMs)} ms\n`);
  expect((await joining).group.owned()).toEqual([0, 1]);
});

test('a frozen member of this machine is not removed by one that joins', async () => {
  const topic = await freshTopic(client, { partitions: 2 });
  const groupId = freshName('group');
  const { child, lines } = startMember(groupId, topic, longSessionMs);
  await until(() => lines.includes('assigned 1'), 'the child owns all');
  child.kill('SIGSTOP');
  const joining = joinRecorded(client, { groupId, topic, sessionTimeoutMs: sessionMs });
  const early = await Promise.race([joining.then(() => 'joined'), afterMs(2_000, 'waiting')]);
  expect(early).toBe('waiting');
  child.kill('SIGCONT');
  expect((await joining).group.owned()).toHaveLength(1);
});

const afterMs = <T>(ms: number, value: T) =>
  new Promise<T>((resolve) => setTimeout(() => resolve(value), ms));

test('a frozen member commits and reads nothing once it wakes up without its partition', async () => {
  const topic = await freshTopic(client);
  const groupId = freshName('group');
  const { child, lines } = startMember(groupId, topic);
  await until(() => lines.includes('committed'), 'the child owns and commits');
  child.kill('SIGSTOP');
  const owner = await joinRecorded(client, { groupId, topic, sessionTimeoutMs: sessionMs });
  await until(() => owner.group.owned().length === 1, 'the partition has a new owner', 15_000);
  await owner.group.commit(0, 0, 'owner');
  const producer = await client.producer();
  await producer.send([outgoing(topic, 0, 'after the freeze')]);
  const before = lines.length;
  child.kill('SIGCONT');
  await until(
    () => lines.slice(before).includes('refused ownership_lost'),
    'the commit of the zombie is refused',
  );
  await until(() => owner.handled.get(0)?.length === 1, 'the owner reads');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const after = lines.slice(before).filter((line) => !line.startsWith('refused'));
  expect(after).toEqual(['revoked 0']);
  expect(await owner.group.committed(0)).toEqual({ offset: 0, metadata: 'owner' });
});
