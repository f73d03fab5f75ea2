import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Engine } from '../../src/core/index.ts';
import { EncodingThread, hashKnown } from '../../src/partition/state-encoder.io.ts';
import { hashOf } from '../../src/partition/state-hash.ts';
import { envelopeOf, opening, partition } from '../core/commands.ts';
import { RandomLog } from '../core/random-log.ts';

/** A thread needs compiled JavaScript; `npm run test:unit` builds before it tests. */
const file = join(__dirname, '../../dist/partition/state-encoder-thread.io.js');
const built = existsSync(file);
if (!built) process.stderr.write(`NOT RUN: states in a thread, because ${file} is not built\n`);
const given = built ? test : test.skip;

const opened: EncodingThread[] = [];
afterEach(async () => {
  for (const thread of opened.splice(0)) await thread.close();
});

function open(threadFile = file) {
  const faults: unknown[] = [];
  const thread = new EncodingThread({
    threadFile: pathToFileURL(threadFile),
    onFault: (fault) => faults.push(fault),
  });
  opened.push(thread);
  return { thread, faults };
}

given('a thread encodes the state of each call, while the engine goes on', async () => {
  const { thread, faults } = open();
  const log = new RandomLog(5);
  const engine = new Engine(partition);
  engine.apply(envelopeOf([opening], 'OPERATOR'), 0);
  const waiting: Promise<void>[] = [];
  for (let record = 1; record <= 1_500; record += 1) {
    engine.apply(log.next().envelope, record);
    if (record % 60 === 0) {
      const bytes = engine.encodeState();
      const hash = thread.hash(engine);
      expect(hash.value).toBeNull();
      waiting.push(
        thread.encode(engine).then((encoded) => {
          expect(encoded.bytes.equals(bytes)).toBe(true);
          expect(encoded.hash).toEqual(hashOf(bytes));
          expect(hash.value).toEqual(hashOf(bytes));
        }),
      );
    }
    // So that some results arrive between two records, and their buffers and slots are used again.
    if (record % 90 === 0) await Promise.all(waiting.splice(0, 1));
  }
  await Promise.all(waiting);
  expect(faults).toEqual([]);
  const bytes = engine.encodeState();
  expect(Engine.restore(bytes).encodeState().equals(bytes)).toBe(true);
});

given('a thread that dies rejects what waits and stops the process', async () => {
  const { thread, faults } = open(join(__dirname, 'no-such-file.js'));
  const engine = new Engine(partition);
  const hash = thread.hash(engine);
  const died = { code: 'state_encoder_died', reaction: 'stop' };
  await expect(thread.encode(engine)).rejects.toMatchObject(died);
  await expect(hashKnown(hash)).rejects.toMatchObject(died);
  expect(faults[0]).toMatchObject(died);
});
