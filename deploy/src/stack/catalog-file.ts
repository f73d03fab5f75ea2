import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { ImportEvent, ImportResult } from '@pm/schemas/http/operator';
import { StackError } from '../local/stack-error.ts';
import { type Operator, OperatorRefusal } from './operator.ts';

/** Events in one request: small enough for a progress line every second or so. */
const eventsPerRequest = 40;

/** Totals of an import. */
export interface ImportTotals {
  readonly events: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly markets: ImportResult['markets'];
}

/**
 * Imports events in pages, each of which is durable before the next is sent. Running an interrupted import again
 * completes it: listed markets stay as they are.
 */
export async function importCatalog(
  operator: Pick<Operator, 'importEvents'>,
  events: Iterable<ImportEvent> | AsyncIterable<ImportEvent>,
  onPage: (totals: ImportTotals) => void,
): Promise<ImportTotals> {
  const markets: ImportResult['markets'] = [];
  let totals: ImportTotals = { events: 0, created: 0, updated: 0, unchanged: 0, markets };
  for await (const page of pagesOf(events)) {
    const result = await operator.importEvents(page).catch((error: unknown) => {
      throw placedInFile(error, page, totals.events);
    });
    markets.push(...result.markets);
    totals = {
      events: totals.events + page.length,
      created: totals.created + result.created,
      updated: totals.updated + result.updated,
      unchanged: totals.unchanged + result.unchanged,
      markets,
    };
    onPage(totals);
  }
  return totals;
}

/** Event numbers in a response count within its page; the error gets those of the file. */
function placedInFile(error: unknown, page: readonly ImportEvent[], before: number): unknown {
  if (!(error instanceof OperatorRefusal)) return error;
  const full = catalogFull(error.response);
  if (full !== null)
    return new OperatorRefusal(`${before} events are imported, the next ones are refused`, full);
  const place = /\/events\/(\d+)/.exec(error.response);
  if (place === null) return error;
  const index = Number(place[1]);
  const response = error.response.replaceAll(place[0], `/events/${before + index}`);
  return new OperatorRefusal(`event ${before + index} (${page[index]?.slug}) is refused`, response);
}

/** Why there is no room for more markets; null for another refusal. */
function catalogFull(response: string): string | null {
  try {
    const { code, error } = JSON.parse(response) as Readonly<Record<string, unknown>>;
    return code === 'catalog_full' && typeof error === 'string' ? `${code}: ${error}` : null;
  } catch {
    return null;
  }
}

async function* pagesOf(events: Iterable<ImportEvent> | AsyncIterable<ImportEvent>) {
  let page: ImportEvent[] = [];
  for await (const event of events) {
    page.push(event);
    if (page.length < eventsPerRequest) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/**
 * Events of a file: one JSON object per line (`.ndjson`, `.jsonl`), read as it is imported, or one JSON document
 * `{"events": [...]}`. Throws a `StackError` with the number of a line that is no JSON.
 */
export async function* eventsOfFile(file: string): AsyncIterable<ImportEvent> {
  if (!/\.(ndjson|jsonl)$/.test(file)) {
    const document = parsed(await readFile(file, 'utf8'), file) as { events?: unknown };
    if (!Array.isArray(document.events)) {
      throw new StackError('BAD_DESCRIPTION', `${file} is no object with a list of events`);
    }
    yield* document.events as ImportEvent[];
    return;
  }
  let number = 0;
  for await (const line of createInterface({
    input: createReadStream(file),
    crlfDelay: Infinity,
  })) {
    number += 1;
    if (line.trim() !== '') yield parsed(line, `line ${number} of ${file}`) as ImportEvent;
  }
}

function parsed(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new StackError('BAD_DESCRIPTION', `${place} is no JSON`);
  }
}

/** A progress line: totals and rate. */
export function progressLine(totals: ImportTotals, seconds: number): string {
  const { events, markets, created, updated, unchanged } = totals;
  const rate = Math.round(markets.length / Math.max(seconds, 0.001));
  return `${events} events, ${markets.length} markets (${created} new, ${updated} changed, ${unchanged} unchanged), ${rate} markets/s`;
}
