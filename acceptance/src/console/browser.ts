import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Where systems put a Chromium; `PM_CHROMIUM` names another one. */
const usualPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The executable of this machine's Chromium; null where there is none. */
export function findChromium(): string | null {
  const named = process.env['PM_CHROMIUM'];
  const paths = named === undefined || named === '' ? usualPaths : [named];
  return paths.find((path) => existsSync(path)) ?? null;
}

/** Opens a Chromium without a window. Rejects when it does not start. */
export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: flags, headless: true });
}
