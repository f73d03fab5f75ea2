import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Signer, walletFromPrivateKey } from '@pm/client';
import { type ConfigOf, list, readConfig, text, url } from '@pm/kit/config';
import { parseMicro } from '@pm/schemas/decimal';
import { parseConditionId } from '@pm/schemas/ids';
import { marketsMax, type TradingLimits } from '../trading/limits.ts';

const usdc = /^((0|[1-9]\d{0,8})(\.\d{1,6})?)?$/;
const allowedUsdc = 'USDC as plain decimal text, more than 0';

/** Variables of the MCP server over stdio; the configuration reference is made of them. */
export const stdioFields = {
  exchangeUrl: url('PM_EXCHANGE_URL', {
    meaning: 'Base URL of the exchange that the stdio server reads and trades on.',
    default: 'http://127.0.0.1:8080',
  }),
  agentKey: text('PM_MCP_AGENT_KEY', {
    meaning: 'Agent key under whose name the stdio server reads.',
    default: '',
    secret: true,
    pattern: /^(pro_[\w-]{32})?$/,
    allowed: 'pro_ and 32 characters',
  }),
  walletKey: text('PM_MCP_WALLET_KEY', {
    meaning:
      'Private key of the wallet that the stdio server trades for; it signs there and is sent nowhere.',
    default: '',
    secret: true,
    pattern: /^(0x[0-9a-fA-F]{64})?$/,
    allowed: '0x and 64 hex digits',
  }),
  walletKeyFile: text('PM_MCP_WALLET_KEY_FILE', {
    meaning: 'File with that key instead, readable by its owner alone.',
    default: '',
    allowed: 'a path',
  }),
  orderLimit: text('PM_MCP_ORDER_LIMIT_USDC', {
    meaning: 'The most that one order may lose; trading is off without it.',
    default: '',
    pattern: usdc,
    allowed: allowedUsdc,
  }),
  dayLimit: text('PM_MCP_DAY_LIMIT_USDC', {
    meaning:
      'The most that all orders of a day (UTC) may lose together; trading is off without it.',
    default: '',
    pattern: usdc,
    allowed: allowedUsdc,
  }),
  markets: list('PM_MCP_MARKETS', {
    meaning: 'Condition ids of the markets that may be traded; trading is off without one.',
    default: [],
    max: marketsMax,
    pattern: /^0x[0-9a-fA-F]{64}$/,
  }),
  stateFolder: text('PM_MCP_STATE_DIR', {
    meaning: 'Folder of the files that count what the orders of a day can lose.',
    default: join(homedir(), '.prediction-exchange-mcp'),
    defaultShown: '~/.prediction-exchange-mcp',
    allowed: 'a path',
  }),
};

/** A wallet to trade with, and how far. */
export interface TradingSettings {
  readonly signer: Signer;
  readonly limits: TradingLimits;
  readonly stateFolder: string;
}

export interface StdioSettings {
  readonly exchangeUrl: string;
  /** Null without one. */
  readonly agentKey: string | null;
  /** Null where trading is off: no wallet key is given. */
  readonly trading: TradingSettings | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the environment. Throws the `Fault` `invalid_config` for wrong and unknown variables, and `RangeError` for a
 * wallet key without limits and for a key file that others may read.
 */
export function readStdioSettings(env?: Environment): StdioSettings {
  const config = readConfig(stdioFields, env);
  return {
    exchangeUrl: config.exchangeUrl,
    agentKey: config.agentKey === '' ? null : config.agentKey,
    trading: tradingOf(config),
  };
}

function tradingOf(config: ConfigOf<typeof stdioFields>): TradingSettings | null {
  const key = walletKeyOf(config);
  if (key === null) return null;
  const markets = config.markets.map((id) => parseConditionId(id.toLowerCase()));
  if (markets.length === 0) throw missing('PM_MCP_MARKETS');
  return {
    signer: walletFromPrivateKey(key),
    limits: {
      perOrderMicro: limitOf('PM_MCP_ORDER_LIMIT_USDC', config.orderLimit),
      perDayMicro: limitOf('PM_MCP_DAY_LIMIT_USDC', config.dayLimit),
      markets: new Set(markets.filter((id) => id !== null)),
    },
    stateFolder: config.stateFolder,
  };
}

function limitOf(name: string, given: string): number {
  const micro = parseMicro(given);
  if (micro === null || micro <= 0) throw missing(name);
  return micro;
}

function missing(name: string): RangeError {
  return new RangeError(`a wallet key needs ${name} too: without limits the server does not trade`);
}

function walletKeyOf({ walletKey, walletKeyFile }: ConfigOf<typeof stdioFields>): string | null {
  if (walletKey !== '' && walletKeyFile !== '') {
    throw new RangeError('give PM_MCP_WALLET_KEY or PM_MCP_WALLET_KEY_FILE, not both');
  }
  if (walletKeyFile === '') return walletKey === '' ? null : walletKey;
  const isShared = process.platform !== 'win32' && (statSync(walletKeyFile).mode & 0o077) !== 0;
  if (isShared) {
    throw new RangeError(`others may read ${walletKeyFile}: chmod 600 it`);
  }
  return readFileSync(walletKeyFile, 'utf8').trim();
}
