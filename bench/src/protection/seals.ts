import { createHash } from 'node:crypto';
import { readSeal, sealHeader, sealRecord, signedBytes } from '@pm/domain/authority/seal';
import { verifierFor } from '@pm/domain/signoff/keys';
import { firstChain, sealEnvelope, sealExecution, verifySealed } from '@pm/domain/signoff/records';
import { OutputSeals } from '@pm/matcher/output-seals';
import type { Command, Envelope } from '@pm/schemas/log/orders';
import { registryHeaderBytes } from '@pm/schemas/log/topics';
import { CommandWriter } from '../stream/envelopes.ts';
import { makeStream, plainCommands } from '../stream/plain.ts';
import { benchKey, decodeExecution, envelopes, executions, tradingOf } from './records.ts';
import type { Step } from './steps.ts';

const key = benchKey();
const verifier = verifierFor(key.publicKey);
const signatureBytes = 64;

/** An authority record of a usual size: key and value of a deposit. */
const authorityRecord = {
  topic: 'transfers',
  partition: 0,
  key: Buffer.alloc(20, 1),
  value: Buffer.alloc(120, 2),
};
const writer = Buffer.alloc(8, 3);

/** The seal of a record of authority, against the bare signature. */
export function sealSteps(): readonly Step[] {
  const bytes = createHash('sha256').update('bare').digest();
  const signature = key.sign(bytes);
  const seal = sealRecord(key, { writer, sequence: 1 }, authorityRecord);
  const read = { headers: { [sealHeader]: seal } };
  return [
    { name: 'bare Ed25519 signature of 32 bytes', work: () => void key.sign(bytes) },
    {
      name: 'sealing a record of authority',
      bare: 'bare Ed25519 signature of 32 bytes',
      work: (sequence) => void sealRecord(key, { writer, sequence }, authorityRecord),
    },
    { name: 'bare Ed25519 check of 32 bytes', work: () => hold(verifier(bytes, signature)) },
    {
      name: 'checking the seal of a record',
      bare: 'bare Ed25519 check of 32 bytes',
      work: () => {
        const found = readSeal(read);
        if (found === null || found === 'malformed') throw new Error('sealed');
        hold(verifier(signedBytes(found.head, authorityRecord), found.signature));
      },
    },
  ];
}

/** The signature of an envelope with the fingerprint of its schema, against one over the bytes alone. */
export function envelopeSteps(): readonly Step[] {
  return [1, 256].flatMap((count) => envelopeStepsOf(commandsOf(count)));
}

function envelopeStepsOf(commands: readonly Command[]): Step[] {
  const content = { partition: 0, sequence: 1, commands: [...commands] };
  const name = `envelope of ${commands.length}`;
  const value = sealEnvelope(envelopes, key, content);
  const alone = signedAlone(content);
  return [
    {
      name: `${name}: encoded and signed, without the schema`,
      work: () => void signedAlone(content),
    },
    {
      name: `${name}: encoded and signed`,
      bare: `${name}: encoded and signed, without the schema`,
      work: () => void sealEnvelope(envelopes, key, content),
    },
    {
      name: `${name}: checked, without the schema`,
      work: () => hold(verifySealed(alone, verifier, null)),
    },
    {
      name: `${name}: checked`,
      bare: `${name}: checked, without the schema`,
      work: () => hold(verifySealed(value, verifier, envelopes.fingerprint)),
    },
  ];
}

function signedAlone(content: Pick<Envelope, 'partition' | 'sequence' | 'commands'>): Buffer {
  const signature = Buffer.alloc(signatureBytes);
  const value = envelopes.encode({ ...content, signature, keyId: key.keyId });
  key.sign(value.subarray(registryHeaderBytes + signatureBytes)).copy(value, registryHeaderBytes);
  return value;
}

function commandsOf(count: number): Command[] {
  const shape = { name: 'protection', seed: 14, commands: 1_000, markets: 16, tick: 100 };
  const acceptedAtMs = () => 1_790_000_000_000;
  const rules = {
    wording: 'complement',
    books: 32,
    tick: 100,
    perEnvelope: count,
    acceptedAtMs,
  } as const;
  const commandWriter = new CommandWriter(rules);
  return Array.from(plainCommands(makeStream(shape)), (plain) => commandWriter.write(plain)).slice(
    0,
    count,
  );
}

/** Outputs a second of a partition, for which the seals of owners are measured. */
const outputRates = [10, 1_000] as const;

/** Steps of the owner for one output after matching it: encode, chain and, for some, seal. */
export function outputSteps(): readonly Step[] {
  const records = tradingOf(4, 500).stream.map(decodeExecution);
  let chain = firstChain;
  const chained = (index: number) => {
    const { chain: _, ...body } = records[index % records.length] ?? noRecord();
    const written = sealExecution(executions, chain, body);
    chain = written.chain;
    return written.value;
  };
  return [
    { name: 'output encoded and chained', work: (index) => void chained(index) },
    ...outputRates.map((perSecond): Step => {
      const clock = { ms: 0 };
      const seals = new OutputSeals({ key, writer, monotonicMs: () => clock.ms });
      return {
        name: `output encoded, chained and sealed, at ${perSecond} a second`,
        bare: 'output encoded and chained',
        work: (index) => {
          clock.ms += 1_000 / perSecond;
          seals.seal({ topic: 'executions', partition: 0, key: null, value: chained(index) });
        },
      };
    }),
  ];
}

function hold(isGood: boolean): void {
  if (!isGood) throw new Error('a good signature');
}

function noRecord(): never {
  throw new RangeError('there are records');
}
