import { commandNotFound, runCommand } from '../../src/local/command.ts';

const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;

test('a command that cannot start is reported, and nothing waits for it', async () => {
  const before = timers();
  const result = await runCommand('no-such-command', [], { timeoutMs: 60_000 });
  expect(result.exitCode).toBe(commandNotFound);
  expect(timers()).toBeLessThanOrEqual(before);
});

test('a command returns its exit code and the end of both streams', async () => {
  const said = "console.log('out'); console.error('err'); process.exitCode = 3";
  const result = await runCommand(process.execPath, ['-e', said], { timeoutMs: 60_000 });
  expect([result.exitCode, result.output.split('\n').sort()]).toEqual([3, ['', 'err', 'out']]);
});

test('a command that takes too long is killed', async () => {
  const endless = ['-e', 'setInterval(() => {}, 1000)'];
  const result = await runCommand(process.execPath, endless, { timeoutMs: 200 });
  expect(result.exitCode).not.toBe(0);
  expect(result.output).toContain('ended by SIGKILL (limit 200 ms)');
});
