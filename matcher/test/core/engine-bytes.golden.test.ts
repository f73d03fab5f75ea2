import { createHash, type Hash } from 'node:crypto';
import { firstChain, sealWritten } from '@pm/domain/signoff/records';
import { compileCodec } from '@pm/schemas/avro/codec';
import { type Execution, execution } from '@pm/schemas/log/executions';
import type { Command, Envelope } from '@pm/schemas/log/orders';
import { registryHeaderBytes } from '@pm/schemas/log/topics';
import { runLength } from '../../../kit/test/long-runs.ts';
import { defaultLimits, Engine, keyIdOf, type Limits } from '../../src/core/index.ts';
import { envelopeOf, opening, partition } from './commands.ts';
import { RandomLog, tightLimits } from './random-log.ts';
import { TradingLoad } from './trading-load.ts';

/**
 * SHA-256 of all records of `executions` that a fixed log gives up to each milestone, and of its states on the way. A
 * log of an earlier version is computed again by this one, byte for byte, so these only change together with a rule of
 * the log. Those of the last milestones were printed at commit 19469aa6, the others by a later one that gives the same,
 * by
 *
 *     PM_TEST_GOLDEN=print PM_TEST_LENGTH=deep npm run test:unit -- --testPathPatterns engine-bytes
 */
const golden: Readonly<Record<string, readonly [records: string, states: string]>> = {
  'random 101, 80': [
    'd14b135d5aff8a1addcb42ca1389339e6714fca0354544187a474e0b5d2b82e5',
    '5ddfe5007247d001079b5fa15373d966ae0de83fdf36492aea8c175afc013fc8',
  ],
  'random 101, 400': [
    'fc0706a1232966aa88449fa0667c771bcb43e160041fca437205dc9aa49fdc71',
    '7f2de86e8295ef849b2f761ad13c6a528c2751fc0438f7de630ed120c1f8d9ad',
  ],
  'random 101, 4000': [
    '2bccc15a011536e9d339dd018b4d890ba76ee583e02c132781d4f5b20c3b1f32',
    '8cbbce643e2f2a47fa3a8e95809d9dd515417929c8eb8e34f5d4c89cf4e661ad',
  ],
  'tight 101, 80': [
    '8a4fc5cf5a87114c7dfcaed9edff1bacaf5f15c474914166388e9a54644ddb85',
    '8670ffc3b84819f751533888c486cfcb17f67ae09ae9c6dce5b6376d2547f985',
  ],
  'tight 101, 400': [
    '0fde46132f05e1bbfcbe22b1c712f6f91f8eaca8e83bbd032196d8ff9444d4bf',
    '9b6fc66bfe2fdcf1007468ed344a8b43281984076f92995c7aa4a339ef3a268c',
  ],
  'tight 101, 4000': [
    '2af31780fb02da31312dae464020dd2d1be14f6a3914dd31a46a6bad86049dfc',
    '3914173cf7e8bb192c5aca087a536ff7ff017e849467373c388faa6572742a37',
  ],
  'random 102, 80': [
    'efb351dd571f31ac1d08ccca0f9bdbd55636121c62a7868eab73b8368f93812b',
    'bc773b8a4b943af64169a16b6625b5275a385f4f986d45633d5ab76698590978',
  ],
  'random 102, 400': [
    'b2d67a499f351d6add1aec7e0e5866bb5f17638acae71fd8a4086fcdc5f9edae',
    '9997d5ba41eb3d6fda1308dd1d0fa764c24d8d464aa767d16037cbd716db4b62',
  ],
  'random 102, 4000': [
    '1aba89478d24ff3b5ffd4199fa6d7c6d0366da3bfbbd1eace69b251c44f37f48',
    '02c4089ab484c9852e9d74b3ac3c9c0b19b6841a28a0811365b87b7b6abf8dd1',
  ],
  'tight 102, 80': [
    'efb351dd571f31ac1d08ccca0f9bdbd55636121c62a7868eab73b8368f93812b',
    'bc773b8a4b943af64169a16b6625b5275a385f4f986d45633d5ab76698590978',
  ],
  'tight 102, 400': [
    'b55ca4bb8efd5fcf93ac4d2222403dc110d0d0e5e93af14e26d2dcebd59263e6',
    'cd86b1d2e8d39f81a7930a8e8853acca6eba158e35e9b2f85047ee92eb06af0d',
  ],
  'tight 102, 4000': [
    '0eaf3f78252a2ac09a153195bc90d3b4f4af8b4340e950921cbed9722d7d11bf',
    '8f308ebba097d56cfeb6812b19252ae84d4bcdafd26c961716664463f3373b87',
  ],
  'random 103, 80': [
    'fca449a5fc2ee7ed609df680a75d3634ed49aba2d0f78c8d817be5d8348f4530',
    'bb29b7e0eff1103f77043c16e76afd679daceea665877ef4bf70875f0fb0a942',
  ],
  'random 103, 400': [
    '29eabfde16e187ee4bd9fdd24663a622444661192f87d4b4c0fde049cb3b0b79',
    'efc476e604e2217e414e08968c51b745a24db961caa4f06d8bc96152620a3794',
  ],
  'random 103, 4000': [
    '808f722067557ad557316dd0af4cc951097114a46068ebe1f9cfffee7f394d74',
    'afbb4a4f940bbbe284375893152f433b0abb39686f03c9d64eb4efec0f6540c2',
  ],
  'tight 103, 80': [
    'f6f657d526adc7658b46248bf257f04dfdde9b98ae93c22b6c9535ae215fb99c',
    '9bbaf49ce86231b77a52f1bc0208a2081fef34657b1f1a603cce1fac01f11d9b',
  ],
  'tight 103, 400': [
    '6e4695718020fb1cf98041d1ae51dd519a732bd7d81c50147257b097fed243b8',
    '6b10d7d615de27d0cc1ed4953fee4ea491cb7f0f75d12fe30bd2fc61f241045a',
  ],
  'tight 103, 4000': [
    'ad3ab1585ee54af004391486fbc6f966ed9927353bafa231d64198c55ed2beb3',
    '172ea4b4169dd571cc289bdf42012d5f0f0da26debf62ec3dfa74e3c11c6c80f',
  ],
  'random 104, 80': [
    'af8183403b8f82df38991f0b001332dfc59597e6efe060f7881b401b1158a8e5',
    '3710c0cfbee87c8fa814a15ca28c044305013260ff2a7d071dc3927fa0c1ca83',
  ],
  'random 104, 400': [
    'b97baa692570887d40bd34adea5d7bf6ddcbd7a58f3ac8a8d0c9801f3ecc396f',
    '9a2125d79d7f3fb1e7de0352ba5ad9308ac0b4660c6e1262bb958385ea773a29',
  ],
  'random 104, 4000': [
    '077007e94c1ead72af98a13c3835877e0aa715781aa3633cf4bd1754d246a9e1',
    'e19deec5896259615ae355aa7d4a24b3b160f39ac38aad50aa9de477a12201da',
  ],
  'tight 104, 80': [
    '5622d156919671f588bc079b18d3d1f0efa0165ec697d22a4568b35ebd1afb2b',
    'e4f43fd30d087377cb3ea22447e3ab3304682ce9e88f28c4a5a378000891f430',
  ],
  'tight 104, 400': [
    '035880e65f91b8ae2094a2ee9036cb632ac6a55177a06f5389c40d062e6a8c18',
    '6b19bb944502620c99fe850efb235e356c4a3a930b2cb0ed0f06616e8a2062b1',
  ],
  'tight 104, 4000': [
    'dcef28718670c9a671b29dcfa548502ecb90585005a35004cd5b396c0c5835e6',
    '0b5dc7f6019ce70c3a4d463ca62840c610e4c82cdf6affc125e8859221b7d74e',
  ],
  'load 1, 80': [
    'e9ee873216f99b6d6e17fe606c3e59be1ad87bcd8f5c3c0a4b2e8b3dc63f56b4',
    '9797e3bbfbcc9d14f61d567a6a552a8dba63781932f5ae02fdb8231c8738b389',
  ],
  'load 1, 400': [
    '0d610f570c25aaccd9df76e925b248b1683667c79ae13b13c569a719474c1d40',
    '8443a2aaa3cd2daddef6ffc35f9123fe7f2611740cf7da2ae2e8336cabf9395e',
  ],
  'load 1, 4000': [
    '143e4d6abe79d474592378e9905ecfcccb9e756b7a8a64f3e6215fe80ea51de4',
    '03ff02428888f78bfe59e4cb3a8b02b9964d93f91ef2bc246793bc9281c60e66',
  ],
  'load 7, 80': [
    '2803012695e2b5c6c8b8ed15b3037573154c9224d6264e0a4a3944fcdb8ce2cb',
    '2497ff2aaf3ed34b3ed5fdc9452b54f10e4d167e5ea7632aa0874f8ff522be79',
  ],
  'load 7, 400': [
    '95d168a86f311141e38233597339f820476c7e176e31e7fee54bbea45db51b6e',
    '04f130892cc0105e155590e6657cd39a241f8ed94a2095afc2beb7917d3a1a51',
  ],
  'load 7, 4000': [
    '524170fc64514ea46e6f503fbc86b21342dffd1b678876d6fd0363da6b409336',
    '8d2e819c423603a8714cda878a37088582d610311c9c9802c61a0929150c0222',
  ],
  'load 256, 80': [
    '4e1d56690f8863cdce2f128701d95be8760e9887e38a16e2369cf00496424651',
    '0e3b0d23150bb45ba7041f11fff9fd15159bf35fba54968712d02e4ef5d86b11',
  ],
  'load 256, 400': [
    '22c1713b000b7de054ab1586cf1bd1f13605459ade7503c55755908e7a720976',
    '97ca402373651e7cf3d7b91bc73afeb6470c2d211d3162cf2054a1c374009cfe',
  ],
  'load 256, 4000': [
    'b428ede0f638814554fc4c51cd0b56b2a56fb5cf2c4747fc4193dcf0d2315776',
    '0c216b57edcab995331188a6007c31bb9376a483597138276d54e921829f7d11',
  ],
  'load 512, 80': [
    '1772200cc388d1142c684a71731f3218bd771b5f150c7a9bacf75b2242ed90f9',
    'b98231dc47483dc37a704e645008c79c83a2a9dc8308d26862e7aa05d9c93ecd',
  ],
  'load 512, 400': [
    '62869d5d9c16dfbf1579b2be3dfd7b86aa018865111864b3d18ce3a0bc8873d4',
    '7af26bd584d582aeb1ee97553a7589d1aad7d1a82441c8ada1fb2fcbb038e3fa',
  ],
  'load 512, 4000': [
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

  /** Digests of the records so far; more may follow. */
  digests(): readonly [string, string] {
    this.engine.assertInvariants();
    const states = this.states.copy().update(this.engine.encodeState());
    return [this.records.copy().digest('hex'), states.digest('hex')];
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

/** Records of a random log, and for each of them commands of a busy load. */
const milestones: readonly number[] = [80, 400, 4_000];
const commandsPerRecord = 15;
const length = runLength({ test: 400, deep: 4_000 });
const reached = milestones.filter((milestone) => milestone <= length);

function checkRandomLog(name: string, seed: number, limits: Limits): void {
  const hashed = new Hashed(limits, firstOf(seed));
  const log = new RandomLog(seed, false);
  let record = 0;
  for (const milestone of reached) {
    for (; record < milestone; record += 1) hashed.apply(fromSender(log.next().envelope));
    check(`${name} ${seed}, ${milestone}`, hashed.digests());
  }
}

function checkTradingLoad(seed: number, commands: number): void {
  const hashed = new Hashed(defaultLimits, firstOf(commands));
  const load = new TradingLoad(seed, 60);
  for (const envelope of load.openingEnvelopes()) hashed.apply(envelope);
  let done = 0;
  for (const milestone of reached) {
    const end = milestone * commandsPerRecord;
    for (; done < end; done += commands) hashed.apply(fromSender(load.next(commands)));
    check(`load ${commands}, ${milestone}`, hashed.digests());
  }
}

function check(name: string, digests: readonly [string, string]): void {
  if (process.env['PM_TEST_GOLDEN'] === 'print')
    process.stdout.write(`  '${name}': ${JSON.stringify(digests)},\n`);
  else expect(digests).toEqual(golden[name]);
}

describe('the records and states of an earlier version', () => {
  it('are compared at one milestone at least', () => {
    expect(reached.length).toBeGreaterThan(0);
  });

  it.each([101, 102, 103, 104])('come again from a random log, seed %d', (seed) => {
    checkRandomLog('random', seed, defaultLimits);
    checkRandomLog('tight', seed, tightLimits);
  });

  it.each([1, 7, 256, 512])('come again from a busy load in envelopes of %d', (commands) => {
    checkTradingLoad(31 + commands, commands);
  });
});
