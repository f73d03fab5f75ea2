import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerRuntimeClient } from 'testcontainers';
import { commandNotFound, runCommand } from '../local/command.ts';
import type { Progress } from '../local/managed-process.ts';
import { messageOf, StackError } from '../local/stack-error.ts';

/** Image of Debian with a Java runtime, made on this machine: the files of the engines are mounted into it. */
const baseRepository = 'prediction-exchange-engines';
const baseTag = 'bookworm-jre17';
const baseImage = `${baseRepository}:${baseTag}`;
const suite = 'bookworm';
const packages = ['openjdk-17-jre-headless', 'ca-certificates'];

const bootstrapTimeoutMs = 600_000;
const pullTimeoutMs = 600_000;

/** The engine of containers (`DOCKER_HOST`, or Docker's socket). Throws a `StackError` TOOL_MISSING without one. */
export async function containerRuntime(): Promise<ContainerRuntimeClient> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  try {
    return await getContainerRuntimeClient();
  } catch (error) {
    throw new StackError(
      'TOOL_MISSING',
      `no container engine answers (start Docker, or set DOCKER_HOST): ${messageOf(error)}`,
    );
  }
}

/**
 * The image in which engines run: null where the public ones can be pulled, else one of this machine, which is made
 * with debootstrap if it is not there. Throws a `StackError` when there is no way to either.
 */
export async function ownEngineImage(
  runtime: ContainerRuntimeClient,
  images: readonly string[],
  progress: Progress,
): Promise<string | null> {
  if (await hasImage(runtime, baseImage)) return baseImage;
  const refusal = await pullAll(runtime, images, progress);
  if (refusal === null) return null;
  progress(`images cannot be pulled (${refusal}): making one of Debian's packages`);
  await makeBase(runtime);
  return baseImage;
}

async function hasImage({ container }: ContainerRuntimeClient, image: string): Promise<boolean> {
  const found = await container.dockerode.listImages({ filters: { reference: [image] } });
  return found.length > 0;
}

/** Null when all are there, else the reason in one line. */
async function pullAll(
  runtime: ContainerRuntimeClient,
  images: readonly string[],
  progress: Progress,
): Promise<string | null> {
  try {
    for (const image of images) {
      if (await hasImage(runtime, image)) continue;
      progress(`pulling ${image}`);
      await pull(runtime, image);
    }
    return null;
  } catch (error) {
    return messageOf(error).split('\n')[0]?.slice(0, 200) ?? '';
  }
}

async function pull({ container }: ContainerRuntimeClient, image: string): Promise<void> {
  const { dockerode } = container;
  const stream = await dockerode.pull(image, { abortSignal: AbortSignal.timeout(pullTimeoutMs) });
  await new Promise<void>((done, failed) => {
    dockerode.modem.followProgress(stream, (error) => (error === null ? done() : failed(error)));
  });
}

async function makeBase(runtime: ContainerRuntimeClient): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pm-base-'));
  const root = join(folder, 'root');
  try {
    const include = `--include=${packages.join(',')}`;
    const args = ['--variant=minbase', include, suite, root];
    const made = await runCommand('debootstrap', args, { timeoutMs: bootstrapTimeoutMs });
    if (made.exitCode === commandNotFound)
      throw new StackError(
        'TOOL_MISSING',
        'no image can be pulled, and debootstrap is missing (apt-get install debootstrap; as root)',
      );
    if (made.exitCode !== 0)
      throw new StackError('FETCH_FAILED', `debootstrap failed:\n${made.output.slice(-2_000)}`);
    await importFolder(runtime, root);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The files of a folder as an image of one layer. */
async function importFolder({ container }: ContainerRuntimeClient, folder: string): Promise<void> {
  const tar = spawn('tar', ['-C', folder, '--exclude=./var/cache/apt/archives/*.deb', '-c', '.'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const options = { repo: baseRepository, tag: baseTag };
  const stream = await container.dockerode.importImage(tar.stdout, options);
  await new Promise<void>((done, failed) => {
    stream.once('end', done).once('error', failed);
    stream.resume();
  });
}
