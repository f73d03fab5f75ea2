import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { findChromium, openBrowser } from '@pm/acceptance/console/browser';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { filesOfPage } from './first-view.ts';

export interface ConsoleView {
  /** Files of the first view, compressed as they are sent. */
  readonly files: number;
  readonly bytes: number;
  /** Null where there is no Chromium. */
  readonly paint: { readonly browser: string; readonly runsMs: readonly number[] } | null;
}

const runs = 7;
const waitMs = 15_000;
const lookEveryMs = 50;
const paintEntry = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null";

/** The first view of the console as it was built, and in a browser whose cache is empty. */
export async function measureConsole(baseUrl: string): Promise<ConsoleView> {
  const dist = join(repositoryRoot, 'console/dist');
  const files = filesOfPage(readFileSync(join(dist, 'index.html'), 'utf8'));
  const sizes = files.map((file) => gzipSync(readFileSync(join(dist, file)), { level: 9 }).length);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return { files: files.length, bytes, paint: await measurePaint(baseUrl) };
}

async function measurePaint(baseUrl: string): Promise<ConsoleView['paint']> {
  const executable = findChromium();
  if (executable === null) return null;
  const browser = await openBrowser(executable);
  try {
    const runsMs: number[] = [];
    // The first one also starts processes of the browser.
    for (let run = 0; run <= runs; run += 1) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(`${baseUrl}/console/`, { timeout: waitMs });
      const paintMs = await untilPainted(() => page.evaluate<number | null>(paintEntry));
      if (run > 0) runsMs.push(paintMs);
      await context.close();
    }
    return { browser: `Chromium ${browser.version()}`, runsMs };
  } finally {
    await browser.close();
  }
}

/** The policy of the page forbids to wait inside of it. */
async function untilPainted(look: () => Promise<number | null>): Promise<number> {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    const paintMs = await look();
    if (paintMs !== null) return paintMs;
    if (performance.now() > deadlineMs) throw new Error('the console is not painted in time');
    await sleep(lookEveryMs);
  }
}
