import { existsSync, mkdirSync, readFileSync, statfsSync } from 'node:fs';
import { runCommand } from '@pm/deploy/local/command';

const mountMaxMs = 30_000;

/** Marks a process in a mount namespace of its own: whatever it mounts ends with it. */
const namespaceVariable = 'PM_DRILL_NAMESPACE';

export const mayMount = (): boolean => process.env[namespaceVariable] === '1';

/** The command line that starts a program where it may mount; null where this machine does not allow it. */
export async function inNamespace(): Promise<readonly string[] | null> {
  for (const flags of [['--mount'], ['--mount', '--user', '--map-root-user']]) {
    const { exitCode } = await runCommand('unshare', [...flags, 'true'], { timeoutMs: mountMaxMs });
    if (exitCode === 0) return ['unshare', ...flags, 'env', `${namespaceVariable}=1`];
  }
  return null;
}

async function command(name: string, args: readonly string[]): Promise<void> {
  const { exitCode, output } = await runCommand(name, args, { timeoutMs: mountMaxMs });
  if (exitCode !== 0) throw new Error(`${name} ${args.join(' ')}: ${output.trim()}`);
}

/** Lets nothing be written in a folder or a file by what has not opened it yet. */
export async function makeReadOnly(folder: string): Promise<void> {
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
  await command('mount', ['--bind', folder, folder]);
  await command('mount', ['-o', 'remount,bind,ro', folder]);
}

export async function unmount(folder: string): Promise<void> {
  await command('umount', ['--lazy', folder]);
}

/** Whatever an accident has left mounted inside of a folder. */
export async function unmountBelow(folder: string): Promise<void> {
  if (!mayMount()) return;
  const places = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  for (const place of places) if (place.startsWith(`${folder}/`)) await unmount(place);
}

/** Puts an empty disk of this many bytes at a folder. */
export async function mountDisk(folder: string, bytes: number): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await command('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]);
}

export async function resizeDisk(folder: string, bytes: number): Promise<void> {
  await command('mount', ['-o', `remount,size=${bytes}`, folder]);
}

/** Bytes used on the disk of a folder. */
export function usedBytes(folder: string): number {
  const { blocks, bfree, bsize } = statfsSync(folder);
  return (blocks - bfree) * bsize;
}
