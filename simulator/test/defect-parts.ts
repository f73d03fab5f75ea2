import type { CommandChannel } from '@pm/domain/commands/command-channel.io';
import type { CommandResult } from '@pm/domain/commands/result-waiters';
import type { Encoder } from '@pm/domain/signoff/records';
import { Fault } from '@pm/kit/fault';
import type { LogProducer } from '@pm/kit/kafka';
import type { Execution } from '@pm/schemas/log/executions';
import type { Command } from '@pm/schemas/log/orders';
import { ExchangeError, overloadedCode } from '../../client/src/errors.ts';
import type { EnvelopeReader } from '../../matcher/src/partition/envelope-reader.ts';
import type { ProjectionTables } from '../../projectors/src/tables/projection-tables.io.ts';
import type { Defects } from './defects.ts';
import type { OrderClient } from './machines/order-client.ts';
import type { Machine } from './time/machine.ts';

/** A change of a command, as a core that does not look at a field behaves: it has what the check wants. */
type Change = (command: Command, partitionMs: number, machine: Machine | null) => Command;

/** Parts of processes, changed where a defect is built in. The judge has no machine. */
export class DefectParts {
  readonly #defects: Defects;

  constructor(defects: Defects) {
    this.#defects = defects;
  }

  reader(reader: EnvelopeReader, machine: Machine | null): EnvelopeReader {
    const changes = this.#changes();
    if (changes.length === 0) return reader;
    const read = reader.read.bind(reader);
    reader.read = (keys, value, hints) => {
      const reading = read(keys, value, hints);
      if (reading.kind !== 'accepted') return reading;
      const change = (command: Command) =>
        changes.reduce((changed, one) => one(changed, keys.timeMs, machine), command);
      const commands = reading.envelope.commands.map(change);
      return {
        ...reading,
        envelope: { ...reading.envelope, commands: this.#ordered(commands, machine) },
      };
    };
    return reader;
  }

  outputs(codec: Encoder<Execution>, machine: Machine): Encoder<Execution> {
    if (!this.#defects.has('outputs bear the time of their owner')) return codec;
    return { encode: (one) => codec.encode({ ...one, timeMs: machine.clock.nowMs() }) };
  }

  /** Producer of the commands of ingress. */
  commandProducer(producer: LogProducer): LogProducer {
    const isSure = this.#defects.has('a send whose outcome is unknown counts as not sent');
    return isSure ? neverUnknown(producer) : producer;
  }

  transferProducer(producer: LogProducer): LogProducer {
    const isSure = this.#defects.has('a withdrawal whose record may be written is taken back');
    return isSure ? neverUnknown(producer) : producer;
  }

  commands({ commands }: CommandChannel): Pick<CommandChannel['commands'], 'run'> {
    const isUnsent = this.#defects.has('an order without a result in time counts as not sent');
    const isPlaced = this.#defects.has('an order is confirmed before its result');
    if (!isUnsent && !isPlaced) return commands;
    return {
      run: async (partition, command, waiting) => {
        const result = await commands.run(partition, command, waiting);
        if (result.kind !== 'pending') return result;
        return isUnsent ? { kind: 'unsent', code: 'overloaded' } : confirmed(partition, command);
      },
    };
  }

  client<Order>(client: OrderClient<Order>): OrderClient<Order> {
    const signedOnce = client.signedOnce.bind(client);
    const readOwn = client.readOwn.bind(client);
    if (this.#defects.has('a lost answer counts as an order that was not sent'))
      client.signedOnce = (...sent) =>
        signedOnce(...sent).catch(asCode('no_answer', overloadedCode));
    if (this.#defects.has('a refusal of one attempt counts for all'))
      client.readOwn = (path) => readOwn(path).catch(asCode(passingRefusal, 'fok_not_filled'));
    if (this.#defects.has('a client forgets what is in doubt'))
      client.placements.lostMs = () => null;
    return client;
  }

  tables(tables: ProjectionTables): ProjectionTables {
    const isRash = this.#defects.has('a batch is committed before it is written');
    const lacksPositions = this.#defects.has('positions are not restored');
    const lacksCandles = this.#defects.has('candles are not restored');
    const isForever = this.#defects.has('a token outlives its server');
    const guard = async () => ({ ...(await tables.guard()), serverLife: '' });
    return {
      ...tables,
      ...(isRash ? { insert: async (...args) => void tables.insert(...args).catch(() => {}) } : {}),
      ...(lacksPositions ? { positions: async function* () {} } : {}),
      ...(lacksCandles ? { candles: async () => [] } : {}),
      ...(isForever ? { guard } : {}),
    };
  }

  #changes(): readonly Change[] {
    const known: readonly (readonly [Parameters<Defects['has']>[0], Change])[] = [
      ['the clock of the process moves the partition', byOwnClock],
      ['commands of a record are applied in any order', (command) => command],
      ['a repeated order is another order', byAnotherId],
      ['an order is booked however late it is', onTime],
      ['a cancel by id holds no order on its way', withoutFence],
      ['an order with a limit of its own is booked before a tick judges it', withoutLimit],
      ['what was booked while the clock stood stays', neverLate],
      ['an order needs no reservation', withHold('PlaceOrder', 1e14)],
      ['a split needs no reservation', withHold('SplitPosition', 1e15)],
      ['an old reservation counts after the loss of the ledger', ofLatestGeneration],
    ];
    return known.flatMap(([name, change]) => (this.#defects.has(name) ? [change] : []));
  }

  #ordered(commands: readonly Command[], machine: Machine | null): Command[] {
    const isAny = this.#defects.has('commands of a record are applied in any order');
    const isTurned = isAny && machine?.scheduler.random.chance(0.2) === true;
    return isTurned ? [...commands].reverse() : [...commands];
  }
}

const byOwnClock: Change = (command, _, machine) => {
  if (command.kind !== 'Tick' || machine === null) return command;
  return { ...command, timeMs: Math.max(command.timeMs, machine.clock.nowMs()) };
};

const byAnotherId: Change = (command) => {
  if (command.kind !== 'PlaceOrder') return command;
  const orderId = Buffer.from(command.orderId);
  orderId.writeDoubleBE(command.acceptedAtMs, 8);
  return { ...command, orderId };
};

const onTime: Change = (command, partitionMs) =>
  command.kind === 'PlaceOrder' ? { ...command, acceptedAtMs: partitionMs } : command;

const withoutFence: Change = (command) =>
  command.kind === 'CancelByIds' ? { ...command, acceptedAtMs: 0 } : command;
const withoutLimit: Change = (command) =>
  command.kind === 'PlaceOrder' ? { ...command, ageLimitMs: 0 } : command;

/** As far ahead as an order may be accepted that is not held for a tick. */
const neverLate: Change = (command, partitionMs) =>
  command.kind === 'PlaceOrder' && command.ageLimitMs === 0
    ? { ...command, acceptedAtMs: Math.max(command.acceptedAtMs, partitionMs + 1_000) }
    : command;

const withHold =
  (kind: Command['kind'], holdMicro: number): Change =>
  (command) =>
    command.kind === kind ? ({ ...command, holdMicro } as Command) : command;

const ofLatestGeneration: Change = (command) =>
  'generation' in command && command.kind !== 'StartGeneration'
    ? ({ ...command, generation: 1e6 } as Command)
    : command;

/** A producer that calls what it does not know not sent. */
function neverUnknown(producer: LogProducer): LogProducer {
  return {
    queuedRecords: 0,
    close: () => producer.close(),
    send: (records) =>
      producer.send(records).catch((error: unknown) => {
        const isUnknown = error instanceof Fault && error.code === 'send_outcome_unknown';
        throw isUnknown ? new Fault('not_sent', 'retry') : error;
      }),
  };
}

const passingRefusal = 'insufficient_balance_or_allowance';

/** Rethrows an error; one of the given code gets another one. */
function asCode(code: string, instead: string): (error: ExchangeError) => never {
  return (error) => {
    if (error.code !== code) throw error;
    throw new ExchangeError(error.status, { error: instead, code: instead });
  };
}

/** The result that a hurried ingress makes up for an order. */
function confirmed(partition: number, command: Command): CommandResult {
  if (command.kind !== 'PlaceOrder') return { kind: 'pending' };
  const { orderId, side } = command;
  const event = {
    kind: 'OrderPlaced',
    orderId,
    side,
    status: 'LIVE',
    filledMicro: 0,
    paidMicro: 0,
  };
  const events = [{ index: 0, event: event as never }];
  return { kind: 'executed', place: { partition, inOffset: 0 }, events };
}
