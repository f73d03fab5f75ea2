import type { AvroRecord, Infer } from '../avro/schema.ts';
import type { WalletAddress } from '../ids.ts';
import { address20, hash32, keyKind, selfTrade, uuid16, walletStatusKind } from './types.ts';

/** The topic `routing`: where the book of a condition lives. Key: the condition id as text. */
export const route = {
  type: 'record',
  name: 'Route',
  doc: 'A condition never changes its partition but by a new epoch.',
  fields: [
    { name: 'conditionId', type: hash32, doc: 'The condition.' },
    { name: 'market', type: 'int', doc: 'The number of its market.' },
    { name: 'partition', type: 'int', doc: 'Partition of `orders` and `executions`.' },
    { name: 'epoch', type: 'int', doc: 'Grows by one with each move.' },
  ],
} as const satisfies AvroRecord;

/**
 * The topic `credentials`: API keys. Key: the API key as text. Secret and passphrase are not in it: they are
 * derived from a secret of the server, the wallet, the nonce and the version. A revoked key stays revoked.
 */
export const credential = {
  type: 'record',
  name: 'Credential',
  doc: 'An API key of a wallet.',
  fields: [
    { name: 'apiKey', type: uuid16, doc: 'The key.' },
    { name: 'wallet', type: address20, doc: 'Whose.' },
    {
      name: 'nonce',
      type: 'string',
      doc: 'What it was derived with: a decimal nonce, of builder keys a text that is none.',
    },
    { name: 'active', type: 'boolean', doc: 'False when revoked.' },
    { name: 'createdAtMs', type: 'long', doc: 'Unix milliseconds.' },
    { name: 'revokedAtMs', type: 'long', doc: 'Unix milliseconds; 0 when it is not.' },
    { name: 'keyKind', type: keyKind, doc: 'What it opens.', default: 'TRADING' },
    {
      name: 'selfTrade',
      type: selfTrade,
      doc: 'What its orders do when they meet one of the same signer.',
      default: 'CANCEL_NEWEST',
    },
    {
      name: 'version',
      type: 'int',
      doc: 'Which key of the wallet and nonce, from 0 on: each follows on one that was revoked. -1 in records that name none, which stand for 0.',
      default: -1,
    },
  ],
} as const satisfies AvroRecord;

/**
 * The topic `read-keys`: keys that open private reads alone. Key: `<wallet>:<number>`. The key itself is
 * nowhere: it is derived from the server's secret, the wallet and the number, and found by its hash.
 */
export const readKey = {
  type: 'record',
  name: 'ReadKey',
  doc: 'A read-only key of a wallet.',
  fields: [
    { name: 'keyHash', type: hash32, doc: 'SHA-256 of the key as text.' },
    { name: 'wallet', type: address20, doc: 'Whose reads it opens.' },
    { name: 'number', type: 'int', doc: 'Which of the wallet, from 0 on; never given twice.' },
    { name: 'active', type: 'boolean', doc: 'False when deleted.' },
    { name: 'createdAtMs', type: 'long', doc: 'Unix milliseconds.' },
    { name: 'revokedAtMs', type: 'long', doc: 'Unix milliseconds; 0 when it is not.' },
  ],
} as const satisfies AvroRecord;

/**
 * The topic `wallet-status`: what operators allow a wallet. Key: the wallet as text; without a record it is
 * NORMAL.
 */
export const walletStatus = {
  type: 'record',
  name: 'WalletStatus',
  doc: 'What a wallet may do, and why.',
  fields: [
    { name: 'wallet', type: address20, doc: 'Whose; the wallet that signs or the one that pays.' },
    { name: 'status', type: walletStatusKind, doc: 'What it may do.' },
    { name: 'reason', type: 'string', doc: "The operator's words; never shown to traders." },
    { name: 'changedAtMs', type: 'long', doc: 'Unix milliseconds.' },
  ],
} as const satisfies AvroRecord;

/**
 * The topic `withdrawal-freezes`: wallets whose withdrawals wait for an operator. Key: the wallet as text;
 * without a record it is not frozen. The record of the zero address is for all wallets together. Written by the
 * solvency check of the ledger's fold and by operators.
 */
export const withdrawalFreeze = {
  type: 'record',
  name: 'WithdrawalFreeze',
  doc: 'Whether the withdrawals of a wallet are frozen, and why.',
  fields: [
    { name: 'wallet', type: address20, doc: 'Whose.' },
    { name: 'frozen', type: 'boolean', doc: 'False once an operator has cleared it.' },
    { name: 'freeMicro', type: 'long', doc: 'Free money when it was frozen, micro-USDC.' },
    { name: 'reason', type: 'string', doc: 'Why; never shown to traders.' },
    { name: 'changedAtMs', type: 'long', doc: 'Unix milliseconds.' },
    {
      name: 'unsound',
      type: 'boolean',
      doc: 'Whether the solvency check found that its money does not add up: then it may only sell and cancel.',
      default: false,
    },
  ],
} as const satisfies AvroRecord;

/** The wallet whose record in `withdrawal-freezes` stands for every wallet. */
export const everyWallet = `0x${'0'.repeat(40)}` as WalletAddress;

/**
 * The topic `wallet-owners`: to which address an operator has bound a contract wallet. Key: the wallet as text. The
 * first record of a wallet that names its operator counts for ever. That is why the topic is not compacted: compaction
 * keeps the newest record of a key, which after a race is the loser's.
 */
export const walletOwner = {
  type: 'record',
  name: 'WalletOwner',
  doc: 'An operator has bound a wallet to an address.',
  fields: [
    { name: 'wallet', type: address20, doc: 'The wallet.' },
    { name: 'owner', type: address20, doc: 'The address whose API keys may use it.' },
    { name: 'boundAtMs', type: 'long', doc: 'Unix milliseconds; informs, decides nothing.' },
    {
      name: 'boundBy',
      type: 'string',
      doc: 'The operator who bound it. Empty in records that a signature wrote in an earlier version: they are ignored.',
      default: '',
    },
  ],
} as const satisfies AvroRecord;

/**
 * A withdrawal that was accepted longer than this before the time of a fence and follows it on the log is void,
 * milliseconds. Ingress does not begin to write one later than five seconds after it was accepted, and a send takes
 * about ten; a record that comes later is void and must be sent again.
 */
export const withdrawalLateMs = 30_000;

/**
 * The topic `transfers`: money that comes and goes, append-only, one partition. A fence with a generation makes
 * withdrawals after it void that were reserved under an older one; a fence without makes those void that were
 * accepted `withdrawalLateMs` before its time. Their reservations may be gone, and whether they are paid must follow
 * from the log alone.
 */
export const transfer = {
  type: 'record',
  name: 'Transfer',
  doc: 'A deposit (positive), a withdrawal (negative), or a fence (0), which makes withdrawals after it void: with a generation those that were reserved under an older one, without one those that were accepted `withdrawalLateMs` before its time.',
  fields: [
    { name: 'transferId', type: hash32, doc: 'Given once; the ledger applies it once.' },
    { name: 'wallet', type: address20, doc: 'Whose.' },
    { name: 'amountMicro', type: 'long', doc: 'Micro-USDC.' },
    { name: 'timeMs', type: 'long', doc: 'When it was accepted, Unix milliseconds.' },
    {
      name: 'generation',
      type: 'int',
      doc: 'Withdrawals: ledger generation of the reservation. Fences: the one that begins, or 0. Deposits: 0.',
      default: 0,
    },
  ],
} as const satisfies AvroRecord;

/** The topic `dead-letters`: records that changed nothing, and why. */
export const deadLetter = {
  type: 'record',
  name: 'DeadLetter',
  doc: 'A record that could not be used.',
  fields: [
    { name: 'topic', type: 'string', doc: 'Where it stands.' },
    { name: 'partition', type: 'int', doc: 'Its partition.' },
    { name: 'offset', type: 'long', doc: 'Its offset.' },
    { name: 'reader', type: 'string', doc: 'Who could not use it.' },
    { name: 'reason', type: 'string', doc: 'Why.' },
    { name: 'value', type: 'bytes', doc: 'The record as it stood, cut at 64 KiB.' },
  ],
} as const satisfies AvroRecord;

export type Route = Infer<typeof route>;
export type Credential = Infer<typeof credential>;
export type ReadKey = Infer<typeof readKey>;
export type WalletStatus = Infer<typeof walletStatus>;
export type WithdrawalFreeze = Infer<typeof withdrawalFreeze>;
export type WalletOwner = Infer<typeof walletOwner>;
export type Transfer = Infer<typeof transfer>;
export type DeadLetter = Infer<typeof deadLetter>;

/** Dead letters carry no more of the record than this. */
export const deadLetterValueMaxBytes = 65_536;
