import { createHash, type Hash } from 'node:crypto';
import { firstChain, sealWritten } from '@pm/domain/signoff/records';
import {
  type Command,
  compileCodec,
  type Envelope,
  type Execution,
  execution,
  registryHeaderBytes,
} from '@pm/schemas';
import { defaultLimits, Engine, keyIdOf, type Limits } from '../../src/core/index.ts';
import { envelopeOf, opening, partition } from './commands.ts';
import { RandomLog, tightLimits } from './random-log.ts';
import { TradingLoad } from './trading-load.ts';

/**
 * SHA-256 of all records of `executions` that a fixed log gives, and of its states on the way. A log of an earlier
 * version is computed again by this one, byte for byte, so these only change together with a rule of the log. They were
 * printed at commit 19469aa6 by
 *
 *     PM_TEST_GOLDEN=print npm run test:unit -- --testPathPatterns engine-bytes
 */
const golden: Readonly<Record<string, readonly [records: string, states: string]>> = {
  'random 101': [
    '2bccc15a011536e9d339dd018b4d890ba76ee583e02c132781d4f5b20c3b1f32',
    '8cbbce643e2f2a47fa3a8e95809d9dd515417929c8eb8e34f5d4c89cf4e661ad',
  ],
  'tight 101': [
    '2af31780fb02da31312dae464020dd2d1be14f6a3914dd31a46a6bad86049dfc',
    '3914173cf7e8bb192c5aca087a536ff7ff017e849467373c388faa6572742a37',
  ],
  'random 102': [
    '1aba89478d24ff3b5ffd4199fa6d7c6d0366da3bfbbd1eace69b251c44f37f48',
    '02c4089ab484c9852e9d74b3ac3c9c0b19b6841a28a0811365b87b7b6abf8dd1',
  ],
  'tight 102': [
    '0eaf3f78252a2ac09a153195bc90d3b4f4af8b4340e950921cbed9722d7d11bf',
    '8f308ebba097d56cfeb6812b19252ae84d4bcdafd26c961716664463f3373b87',
  ],
  'random 103': [
    '808f722067557ad557316dd0af4cc951097114a46068ebe1f9cfffee7f394d74',
    'afbb4a4f940bbbe284375893152f433b0abb39686f03c9d64eb4efec0f6540c2',
  ],
  'tight 103': [
    'ad3ab1585ee54af004391486fbc6f966ed9927353bafa231d64198c55ed2beb3',
    '172ea4b4169dd571cc289bdf42012d5f0f0da26debf62ec3dfa74e3c11c6c80f',
  ],
  'random 104': [
    '077007e94c1ead72af98a13c3835877e0aa715781aa3633cf4bd1754d246a9e1',
    'e19deec5896259615ae355aa7d4a24b3b160f39ac38aad50aa9de477a12201da',
  ],
  'tight 104': [
    'dcef28718670c9a671b29dcfa548502ecb90585005a35004cd5b396c0c5835e6',
    '0b5dc7f6019ce70c3a4d463ca62840c610e4c82cdf6affc125e8859221b7d74e',
  ],
  'load 1': [
    '143e4d6abe79d474592378e9905ecfcccb9e756b7a8a64f3e6215fe80ea51de4',
    '03ff02428888f78bfe59e4cb3a8b02b9964d93f91ef2bc246793bc9281c60e66',
  ],
  'load 7': [
    '524170fc64514ea46e6f503fbc86b21342dffd1b678876d6fd0363da6b409336',
    '8d2e819c423603a8714cda878a37088582d610311c9c9802c61a0929150c0222',
  ],
  'load 256': [
    'b428ede0f638814554fc4c51cd0b56b2a56fb5cf2c4747fc4193dcf0d2315776',
    '0c216b57edcab995331188a6007c31bb9376a483597138276d54e921829f7d11',
  ],
  'load 512': [
    'e88cd8f33f2fd8c7e455b7db4510525eb3ecc3a779add72299c039e04ed3a87d',
    '1aa8cdf1597cb3b49629cc681e83ff05f72c8089ecfeb0461d4228b697898502',
  ],
};

const codec = compileCodec(execution);
const executions = {
  encode: (value: Execution) => codec.encode(value, registryHeaderBytes),
};

/** An engine whose records and states are hashed. */
class Hashed {
  private readonly engine: Engine;
  private readonly records: Hash = createHash('sha256');
  private readonly states: Hash = createHash('sha256');
  private chain = firstChain;
  private offset = 0;

  constructor(limits: Limits, first: Envelope) {
    this.engine = new Engine(partition, limits);
    this.apply(first);
  }

  apply({ keyId, ...envelope }: Envelope): void {
    const sequence = this.offset;
    const inOffset = this.offset;
    const { timeMs, written } = this.engine.apply({ ...envelope, keyId, sequence }, inOffset);
    const head = { inOffset, timeMs, keyId, sequence };
    const { value, chain } = sealWritten(executions, this.chain, { head, written });
    this.records.update(value.subarray(registryHeaderBytes)).update(written.refusals.join());
    this.records.update(` ${written.fills} ${this.engine.nextExpiryMs}`);
    this.chain = chain;
    this.offset += 1;
    if (this.offset % 400 === 0) this.states.update(this.engine.encodeState());
  }

  digests(): readonly [string, string] {
    this.engine.assertInvariants();
    this.states.update(this.engine.encodeState());
    return [this.records.digest('hex'), this.states.digest('hex')];
  }
}

const ownerKey = Buffer.alloc(32, 77);
/** The newest rules at that commit. */
const newestThen = 4;
const newRules: readonly Command[] = [
  { kind: 'SetRules', version: newestThen },
  { kind: 'SetKey', publicKey: ownerKey, role: 'OWNER', active: true },
];

/** Under these rules with an even seed, under those of older logs with an odd one. */
function firstOf(seed: number): Envelope {
  return envelopeOf(seed % 2 === 0 ? [opening, ...newRules] : [opening], 'OPERATOR');
}

/** Ticks are those of the owner, which alone move the clock. */
function fromSender(envelope: Envelope): Envelope {
  const isTick = envelope.commands.every(({ kind }) => kind === 'Tick');
  return isTick ? { ...envelope, keyId: keyIdOf(ownerKey) } : envelope;
}

function randomLog(seed: number, limits: Limits): readonly [string, string] {
  const hashed = new Hashed(limits, firstOf(seed));
  const log = new RandomLog(seed);
  for (let record = 0; record < 4_000; record += 1) hashed.apply(fromSender(log.next().envelope));
  return hashed.digests();
}

function tradingLoad(seed: number, commands: number): readonly [string, string] {
  const hashed = new Hashed(defaultLimits, firstOf(commands));
  const load = new TradingLoad(seed, 60);
  for (const envelope of load.openingEnvelopes()) hashed.apply(envelope);
  for (let done = 0; done < 60_000; done += commands) hashed.apply(fromSender(load.next(commands)));
  return hashed.digests();
}

function check(name: string, digests: readonly [string, string]): void {
  if (process.env['PM_TEST_GOLDEN'] === 'print')
    process.stdout.write(`  '${name}': ${JSON.stringify(digests)},\n`);
  else expect(digests).toEqual(golden[name]);
}

describe('the records and states of an earlier version', () => {
  it.each([101, 102, 103, 104])('come again from a random log, seed %d', (seed) => {
    check(`random ${seed}`, randomLog(seed, defaultLimits));
    check(`tight ${seed}`, randomLog(seed, tightLimits));
  });

  it.each([1, 7, 256, 512])('come again from a busy load in envelopes of %d', (commands) => {
    check(`load ${commands}`, tradingLoad(31 + commands, commands));
  });
});
