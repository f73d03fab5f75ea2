import type { OutgoingRecord } from '@pm/kit/kafka';
import type { Topic } from '@pm/schemas/log/topics';
import type { Dice } from '../../../kit/test/hostile/dice.ts';

/** Where a record goes, and values that its readers would take. */
export interface PoisonPlace {
  readonly topic: Topic;
  /** Name on the broker. */
  readonly name: string;
  readonly partitions: number;
  /** Values of this topic, newest last. */
  readonly good: readonly Buffer[];
  /** Values of other topics. */
  readonly foreign: readonly Buffer[];
}

const hugeBytes = [70_000, 300_000, 800_000];

function randomBytes(length: number, dice: Dice): Buffer {
  return Buffer.from(Array.from({ length }, () => dice.below(256)));
}

/** The registry's header: a zero byte and the id of a schema. */
function header(id: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(id >>> 0, 1);
  return bytes;
}

function flipped(value: Buffer, dice: Dice): Buffer {
  const copy = Buffer.from(value);
  if (copy.length === 0) return copy;
  const at = dice.below(copy.length);
  copy.writeUInt8((copy.readUInt8(at) + 1 + dice.below(255)) % 256, at);
  return copy;
}

type Maker = (good: Buffer, place: PoisonPlace, dice: Dice) => Buffer | null;

const makers: readonly Maker[] = [
  (_good, _place, dice) => randomBytes(dice.below(200), dice),
  () => Buffer.alloc(0),
  () => null,
  (good, _place, dice) => Buffer.concat([good.subarray(0, 5), randomBytes(dice.below(100), dice)]),
  (good) => good.subarray(0, 5),
  (good, _place, dice) => Buffer.concat([header(dice.below(2 ** 31)), good.subarray(5)]),
  (_good, _place, dice) => header(dice.pick([0, 2 ** 31, 2 ** 32 - 1])),
  (good, _place, dice) => good.subarray(0, dice.below(good.length + 1)),
  (good, _place, dice) => flipped(good, dice),
  (good, _place, dice) => flipped(flipped(good, dice), dice),
  (good) => Buffer.concat([good, good.subarray(5)]),
  (good) => good,
  (_good, { foreign }, dice) => (foreign.length === 0 ? null : dice.pick(foreign)),
  (good, _place, dice) =>
    dice.isOneIn(50)
      ? Buffer.concat([good, Buffer.alloc(dice.pick(hugeBytes), dice.below(256))])
      : Buffer.concat([good, Buffer.alloc(dice.below(2_000), 0xff)]),
];

/**
 * A record that no service writes: broken bytes, another topic's record, one that is there already, in any partition.
 * Keys are new ones: under a key that is in use a record without a value would delete what is there, and only access
 * rules of the broker help against that.
 */
export function poisonRecord(place: PoisonPlace, dice: Dice): OutgoingRecord {
  const { topic, name, partitions, good } = place;
  const usual =
    good.length === 0 ? Buffer.concat([header(1), randomBytes(40, dice)]) : dice.pick(good);
  const key = randomBytes(1 + dice.below(40), dice);
  // The broker refuses records without a key in a compacted topic.
  const hasKey = topic.compacted || !dice.isOneIn(4);
  const seal = dice.isOneIn(6) ? { 'pm-seal': randomBytes(dice.pick([0, 1, 89, 90]), dice) } : {};
  return {
    topic: name,
    partition: dice.below(partitions),
    key: hasKey ? key : null,
    value: dice.pick(makers)(usual, place, dice),
    headers: seal,
  };
}
