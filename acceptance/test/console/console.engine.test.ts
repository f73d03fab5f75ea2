import type { Browser, Page } from 'playwright-core';
import { findChromium, openBrowser } from '../../src/console/browser.ts';
import { until } from '../exchange-under-test.ts';
import { ConsoleWorld } from './console-world.ts';

/** The console in a real Chromium, against a whole exchange. */
const executable = findChromium();
if (executable === null) {
  process.stderr.write('NOT RUN: the console in a browser, because there is no Chromium here\n');
}
const suite = executable === null ? describe.skip : describe;

const waitMs = 20_000;
/** Text of a user that a careless page would run. */
const hostileText =
  '<img src=x onerror="alert(1)"><a href="javascript:alert(2)">win</a> <b>bold</b>';

suite('the console', () => {
  let world: ConsoleWorld;
  let browser: Browser;
  let page: Page;
  const errors: string[] = [];

  beforeAll(async () => {
    world = await ConsoleWorld.open();
    browser = await openBrowser(executable ?? '');
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(waitMs);
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(`${message.text()} ${message.location().url}`);
    });
  }, 400_000);

  afterAll(async () => {
    await browser?.close();
    await world?.close();
  }, 60_000);

  const rowAt = (price: string) => page.locator(`[data-testid=ladder] [data-price="${price}"]`);

  test('a browser at the root comes to the console and finds a market by its words', async () => {
    await page.goto(world.baseUrl);
    expect(page.url()).toBe(`${world.baseUrl}/console/`);
    await page.goto(`${world.baseUrl}/console/#/portfolio`);
    await page.locator('#search').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.locator('#search:focus').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('entry');
    expect(await page.inputValue('#search')).toBe('entry');
    await page.locator('.card-head').first().click();
    await page.locator('.event-head h1', { hasText: 'Entry' }).waitFor();
    const [condition = ''] = world.exchange.conditions;
    await page.goto(`${world.baseUrl}/console/#/event/entry/${condition}`);
    await page.locator('.market-list [aria-current]').waitFor();
  });

  test('the page is live: it follows the stream', async () => {
    await page.locator('[data-testid=stream]', { hasText: 'live' }).waitFor();
  });

  test('an order of a test wallet stands in the ladder, marked, and leaves it when canceled', async () => {
    await page.selectOption('#wallet', '0');
    await page.getByText('$1,000.00 available').waitFor();
    await page.fill('#ticket-price', '40');
    await page.fill('#ticket-size', '25');
    await page.getByText('Waits in the book.').waitFor();
    await page.click('.send');
    await rowAt('0.4').waitFor();
    await page.locator('.row.bid.own[data-price="0.4"]').waitFor();
    // It rests long enough that a step of the slider over the past meets it.
    await page.waitForTimeout(7_000);
    await page.getByRole('tab', { name: 'Orders' }).click();
    await page.locator('[data-testid=orders]').getByRole('button', { name: 'Cancel' }).click();
    await rowAt('0.4').waitFor({ state: 'detached' });
  });

  test('the book of a past moment shows the order that is gone', async () => {
    const slider = page.locator('#past');
    await slider.focus();
    for (let step = 0; step < 40 && (await rowAt('0.4').count()) === 0; step += 1) {
      await page.keyboard.press('ArrowLeft');
      await page.waitForTimeout(700);
    }
    expect(await rowAt('0.4').count()).toBe(1);
    expect(await page.locator('h2', { hasText: 'Past book' }).count()).toBe(1);
    await page.keyboard.press('End');
    await rowAt('0.4').waitFor({ state: 'detached' });
  });

  test('an order is placed with keys alone', async () => {
    await page.keyboard.press('Escape');
    await page.keyboard.press('b');
    await page.keyboard.type('45');
    await page.keyboard.press('Tab');
    await page.keyboard.type('30');
    await page.keyboard.press('Enter');
    await page.locator('.row.bid.own[data-price="0.45"]').waitFor();
  });

  test('a fill moves the chart and comes to the tape and the positions', async () => {
    const candles = page.locator('[data-testid=candle-count]');
    const before = Number(await candles.getAttribute('data-count'));
    const seller = await world.client(1);
    const other = await otherToken(world.baseUrl, world.exchange.tokens[0] ?? '');
    // A buy of the other token at 55 meets the bid at 45: a pair is made.
    const placed = await seller.placeOrder({
      tokenId: other,
      side: 'BUY',
      price: '0.55',
      size: '10',
    });
    expect([placed.status, placed.errorMsg]).toEqual(['matched', '']);
    await until(async () => Number(await candles.getAttribute('data-count')) > before);
    await page.locator('.tape-row').first().waitFor();
    await page.getByRole('tab', { name: 'Positions' }).click();
    await page.locator('[data-testid=positions] tbody tr').first().waitFor();
  });

  test('text of users is shown as text', async () => {
    const writer = await world.client(1);
    const [event] = (await (await fetch(`${world.baseUrl}/events?limit=1`)).json()) as {
      id: string;
    }[];
    await writer.comments.write({
      parent_entity_type: 'Event',
      parent_entity_id: event?.id ?? '',
      body: hostileText,
    });
    await page.getByRole('tab', { name: 'Comments' }).click();
    const comment = page.locator('[data-testid=comments] article p');
    await comment.first().waitFor();
    expect(await comment.first().textContent()).toBe(hostileText);
    expect(await comment.locator('a, img, b').count()).toBe(0);
  });

  test('the pipeline is shown while its matcher is away, and when it is back', async () => {
    await page.goto(`${world.baseUrl}/console/#/pipeline`);
    const states = () =>
      page.locator('[data-testid=partitions] tbody tr td:nth-child(2)').allTextContents();
    const all = async (test: (state: string) => boolean) => {
      for (let tries = 0; tries < 120; tries += 1) {
        const shown = await states();
        if (shown.length === 2 && shown.every((state) => test(state.trim()))) return;
        await page.waitForTimeout(500);
      }
      throw new Error(`the partitions are ${(await states()).join()}`);
    };
    await all((state) => state === 'live');
    await world.exchange.killMatcher();
    await all((state) => state !== 'live');
    world.exchange.startMatcher();
    await all((state) => state === 'live');
  }, 180_000);

  test('a page whose stream service was killed says so, reads on, and is live again by itself', async () => {
    const [condition = ''] = world.exchange.conditions;
    await page.goto(`${world.baseUrl}/console/#/event/entry/${condition}`);
    expect(errors).toEqual([]);
    const state = (text: string) => page.locator('[data-testid=stream]', { hasText: text });
    await state('live').waitFor();
    await world.killStreams();
    await state('reading in rounds').waitFor();
    const seller = await world.client(1);
    const [tokenId = ''] = world.exchange.tokens;
    await seller.placeOrder({ tokenId, side: 'BUY', price: '0.31', size: '10' });
    await rowAt('0.31').waitFor();
    world.startStreams();
    await state('live').waitFor();
    await seller.cancelAll();
    await rowAt('0.31').waitFor({ state: 'detached' });
  }, 120_000);

  test('nothing broke the policy of the page, and no error was reported', () => {
    // A browser reports by itself that a connection was not made while the stream service was away.
    expect(errors.filter((text) => !text.includes('/v1/stream'))).toEqual([]);
  });
});

/** The other token of the market of a token. */
async function otherToken(baseUrl: string, token: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/markets?clob_token_ids=${token}`);
  const [market] = (await answer.json()) as { clobTokenIds: string }[];
  const tokens = JSON.parse(market?.clobTokenIds ?? '[]') as string[];
  return tokens.find((one) => one !== token) ?? '';
}
