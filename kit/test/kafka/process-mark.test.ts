import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { hasEnded, processMark } from '../../src/kafka/process-mark.io.ts';

let child: ChildProcess;

beforeEach(async () => {
  child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore' });
  await once(child, 'spawn');
});

afterEach(() => {
  child.kill('SIGKILL');
});

function markOf(pid: number | undefined): string {
  const mark = processMark(pid);
  if (mark === null) throw new Error('this platform has /proc');
  return mark;
}

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux(
  'a process has ended when it was killed, and not before, also not while it is stopped',
  async () => {
    const mark = markOf(child.pid);
    expect(hasEnded(mark)).toBe(false);
    child.kill('SIGSTOP');
    expect(hasEnded(mark)).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(hasEnded(mark)).toBe(true);
  },
);

onLinux('a process has ended when a later one has its number', () => {
  const mark = markOf(child.pid);
  expect(hasEnded(mark.replace(/\d+$/, '1'))).toBe(true);
});

onLinux('nothing is known of a process of another machine, boot or container', async () => {
  const [boot, space, pid, start] = markOf(child.pid).split(' ');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(hasEnded(`${boot} ${space} ${pid} ${start}`)).toBe(true);
  expect(hasEnded(`other ${space} ${pid} ${start}`)).toBe(false);
  expect(hasEnded(`${boot} pid:[1] ${pid} ${start}`)).toBe(false);
});

test('a mark of another kind proves nothing', () => {
  for (const mark of ['', 'nonsense', 'boot pid:[1] 0 5', 'boot pid:[1] -7 5'])
    expect(hasEnded(mark)).toBe(false);
});

onLinux('a process that does not exist has no mark', () => {
  expect(processMark(2 ** 22 + 1)).toBeNull();
});
