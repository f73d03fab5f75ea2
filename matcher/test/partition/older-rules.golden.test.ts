import { createHash } from 'node:crypto';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { type Command, type KeyRole, newestRules } from '@pm/schemas';
import { Engine } from '../../src/core/index.ts';
import { EnvelopeReader } from '../../src/partition/envelope-reader.ts';
import { firstPosition, RecordProcessor } from '../../src/partition/record-processor.ts';
import { RandomLog } from '../core/random-log.ts';
import { codecs, keys, openingCommand, partition } from './sealed-records.ts';

const setKey = (name: keyof typeof keys, role: KeyRole, active = true): Command => ({
  kind: 'SetKey',
  publicKey: keys[name].publicKey,
  role,
  active,
});

/** What changes keys, or tries to, now and then. */
const settings: readonly Command[] = [
  setKey('stranger', 'OPERATOR'),
  setKey('operator', 'OPERATOR', false),
  setKey('stranger', 'INGRESS'),
  setKey('stranger', 'OPERATOR', false),
  setKey('operator', 'INGRESS'),
  setKey('stranger', 'LEDGER', false),
];

/** A log under these rules, with settings of keys and records of keys that are listed or not. */
function recordsOf(version: number): readonly Buffer[] {
  let sequence = 0;
  const seal = (name: keyof typeof keys, commands: readonly Command[]) => {
    sequence += 1;
    return sealEnvelope(codecs.orders, keys[name], { partition, sequence, commands });
  };
  const begun: Command[] = version === 0 ? [] : [{ kind: 'SetRules', version }];
  const listed = [setKey('owner', 'OWNER'), setKey('ingress', 'INGRESS')];
  const records = [seal('operator', [openingCommand, ...begun, ...listed])];
  const random = new RandomLog(2_026);
  for (let count = 0; count < 500; count += 1) {
    const { envelope, isOperator } = random.next();
    const { commands } = envelope;
    const isTick = commands.every(({ kind }) => kind === 'Tick');
    if (isTick) records.push(seal('ingress', commands));
    records.push(seal(isOperator ? 'operator' : isTick ? 'owner' : 'ingress', commands));
    if (count % 20 !== 0) continue;
    records.push(seal('operator', [settings[(count / 20) % settings.length] as Command]));
    records.push(seal('stranger', isTick ? [] : commands));
    records.push(seal('ingress', [setKey('stranger', 'OPERATOR')]));
  }
  return records;
}

/** Digests of all outputs and of the state. Change none: logs of older versions would not replay. */
const golden = new Map<number, readonly [string, string]>([
  [
    0,
    [
      'ad83867ac142ae3943d2b9d7a721549c02f07c76d3c83de9b6da48cbe55ec128',
      '285a4df4726f5a95956884042e65a74c69b1ec04f65e02b9ad2f098666696a43',
    ],
  ],
  [
    1,
    [
      '51cdbd01c206a05b992887ab434757c8f9815b9e1e2619f674594736bb51cefb',
      '6e301310b2997db5502f184a5cbfb89cba274299ea626673c25b077d63aa527f',
    ],
  ],
  [
    2,
    [
      'a5c6e91f958ad0c53e6ac44782f080430aa28faab07ef0aba3f38cc78e1ddbe0',
      'c785c80a873d991d1aefaa541e1f23c564f9a6d838363a631580f3f7f3fa5b11',
    ],
  ],
  [
    3,
    [
      'a6381ab3b2f86d5f32b672ef58938a1ee0070d5733d4ecff974fc7fd4aaa8fad',
      'd7a04addae343ae841de5383810bd7a405ce26544e462dfe78e0456cad96c892',
    ],
  ],
  [
    4,
    [
      'a8e7968c1e1ee0c1ab7e05c352fcb8aa6754397cd9488e13173a5f5c7a451a4d',
      '5bac66d05deff16ce95f75fa3b66c7080a0c7225cda2dce55b9192879d3c2473',
    ],
  ],
  [
    5,
    [
      'bce8e4b75da323d9e7b0508961ff42237fcc24b0a65ca8ee511cd1b6220c5d6f',
      '3182971bfc469bfdc77fe89898fc626b351ae531c447dfe48431d56af9306e42',
    ],
  ],
]);

test('a log under older rules gives the outputs and the state that it always gave', () => {
  for (let version = 0; version < newestRules; version += 1) {
    const reader = new EnvelopeReader({
      partition,
      operatorKey: keys.operator.publicKey,
      codec: codecs.orders,
    });
    const parts = { partition, reader, executions: codecs.executions };
    const processor = new RecordProcessor(parts, firstPosition(new Engine(partition)));
    const outputs = createHash('sha256');
    for (const [offset, value] of recordsOf(version).entries())
      outputs.update(processor.process({ offset, value })?.value ?? '');
    const state = createHash('sha256').update(processor.engine.encodeState());
    expect([version, outputs.digest('hex'), state.digest('hex')]).toEqual([
      version,
      ...(golden.get(version) ?? []),
    ]);
  }
});
