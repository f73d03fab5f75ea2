import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { Command } from 'commander';
import type { Page } from 'playwright-core';
import { findChromium, openBrowser } from '../console/browser.ts';

/** `npm run screenshots`: the main views of the console of a running exchange with the demo, as PNG files. */
const given = new Command('npm run screenshots --')
  .option('--base-url <url>', 'base URL of the running exchange', 'http://127.0.0.1:8080')
  .option('--out <folder>', 'where the files go', join(repositoryRoot, 'docs/images'))
  .parse()
  .opts<{ baseUrl: string; out: string }>();

/** Time in which pages read and draw, milliseconds. */
const settleMs = 4_000;
const wide = { width: 1280, height: 800 };
const phone = { width: 390, height: 780 };

const executable = findChromium();
if (executable === null) {
  console.error('there is no Chromium on this machine; PM_CHROMIUM can name one');
  process.exit(1);
}
mkdirSync(given.out, { recursive: true });
const browser = await openBrowser(executable);
try {
  for (const colorScheme of ['dark', 'light'] as const) {
    const page = await browser.newPage({ viewport: wide, colorScheme });
    await visit(page, colorScheme);
    await page.close();
  }
} finally {
  await browser.close();
}

async function visit(page: Page, colorScheme: 'dark' | 'light'): Promise<void> {
  await page.goto(`${given.baseUrl}/console/`);
  await page.waitForSelector('.card');
  await save(page, `console-markets-${colorScheme}`);
  await page.click('.card-head');
  await page.waitForSelector('.row');
  await page.selectOption('#wallet', '2');
  await page.waitForSelector('.wallet button');
  if (colorScheme === 'dark') await placeOrder(page);
  await save(page, `console-trade-${colorScheme}`);
  if (colorScheme === 'light') return;
  await page.goto(`${given.baseUrl}/console/#/pipeline`);
  await page.waitForTimeout(5 * settleMs);
  await save(page, 'console-pipeline-dark');
  await page.setViewportSize(phone);
  await page.goBack();
  await page.waitForSelector('.row');
  await save(page, 'console-phone-dark');
}

/** A bid at the second best level, so that the ladder shows an own order. */
async function placeOrder(page: Page): Promise<void> {
  await page.locator('.row.bid').nth(1).click();
  await page.fill('#ticket-size', '25');
  await page.click('.send');
  await page.waitForSelector('.row.own');
}

async function save(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(settleMs);
  const path = join(given.out, `${name}.png`);
  await page.screenshot({ path });
  console.log(path);
}
