import type { AvroRecord } from '../avro/schema.ts';
import { hash32, keyId8, keyRole, marketMode } from './types.ts';

/** Index of a command, as the events of `executions` name it. */
export const index = {
  name: 'command',
  type: 'int',
  doc: 'Index of the command in its envelope; -1 for what is left over from an earlier record.',
} as const;

export const marketSet = {
  type: 'record',
  name: 'MarketSet',
  doc: 'A market was listed or its rules changed.',
  fields: [
    index,
    { name: 'market', type: 'int', doc: 'The market.' },
    { name: 'conditionId', type: hash32, doc: 'The condition.' },
    { name: 'tick', type: 'int', doc: 'Tick size in 1/10000 USDC.' },
    { name: 'minSizeMicro', type: 'long', doc: 'Smallest order.' },
    { name: 'feeRateBps', type: 'int', doc: 'Taker fee rate.' },
    { name: 'mode', type: marketMode, doc: 'What it takes.' },
    {
      name: 'takerDelayMs',
      type: 'int',
      doc: 'How long an order that would trade at once is held first, milliseconds.',
      default: 0,
    },
  ],
} as const satisfies AvroRecord;

export const marketResolved = {
  type: 'record',
  name: 'MarketResolved',
  doc: 'The payout of each token is fixed.',
  fields: [
    index,
    { name: 'market', type: 'int', doc: 'The market.' },
    { name: 'payout0', type: 'int', doc: 'What token 0 pays in 1/10000 USDC.' },
  ],
} as const satisfies AvroRecord;

export const tradingModeSet = {
  type: 'record',
  name: 'TradingModeSet',
  doc: 'What all markets of the partition take at most has changed.',
  fields: [index, { name: 'mode', type: marketMode, doc: 'The mode.' }],
} as const satisfies AvroRecord;

export const keySet = {
  type: 'record',
  name: 'KeySet',
  doc: 'A sign-off key was added or retired.',
  fields: [
    index,
    { name: 'keyId', type: keyId8, doc: 'The key.' },
    { name: 'role', type: keyRole, doc: 'What it may sign.' },
    { name: 'active', type: 'boolean', doc: 'False when retired.' },
  ],
} as const satisfies AvroRecord;

export const generationStarted = {
  type: 'record',
  name: 'GenerationStarted',
  doc: 'Orders reserved under an older ledger generation are refused from here on.',
  fields: [index, { name: 'generation', type: 'int', doc: 'Its number.' }],
} as const satisfies AvroRecord;

export const recordRejected = {
  type: 'record',
  name: 'RecordRejected',
  doc: 'The input record changed nothing: it is in the dead letters.',
  fields: [
    {
      name: 'reason',
      type: {
        type: 'enum',
        name: 'RejectReason',
        symbols: [
          'UNREADABLE',
          'UNKNOWN_KEY',
          'BAD_SIGNATURE',
          'WRONG_PARTITION',
          'NOT_ALLOWED',
          'NOT_OPENED',
          'UNKNOWN',
          'OLD_SEQUENCE',
          'CLOCK_LEAP',
        ],
        default: 'UNKNOWN',
      },
      doc: 'Why.',
    },
  ],
} as const satisfies AvroRecord;
