import { codedNames, cutMatches, wholeTitles, yesNoTitles } from './coded-names.ts';
import type { RecordedMarket } from './recordings.ts';

/** A recorded market in words that a person would write. */
export interface DemoName {
  /** The title of its event. */
  readonly title: string;
  readonly question: string;
  /** Among the markets of its event; empty where it is the only one of its title. */
  readonly short: string;
  readonly outcomes?: [string, string];
}

/** Longer questions of the recording were cut there. */
const cutAtChars = 80;

/** The words for a recorded market; null where the recording has a code for which there are none. */
export function nameOf(market: RecordedMarket): DemoName | null {
  const title = wholeTitles[market.question] ?? market.question;
  const short = codedName(market.slug) ?? ruledName(market.slug);
  if (short !== null) {
    const question = title.endsWith('?') ? `${title} ${short}` : `${title}: ${short}`;
    return { title, question, short };
  }
  const spread = spreadName(market);
  if (spread !== null) return spread;
  const match = matchOf(market);
  if (match !== null) {
    const question = `Who wins ${match.join(' vs ')} on ${dayOf(market.slug)}?`;
    return { title: question, question, short: '', outcomes: match };
  }
  const question = wholeQuestion(market);
  return question === null ? null : { title: question, question, short: '' };
}

function codedName(slug: string): string | null {
  for (const [prefix, names] of Object.entries(codedNames)) {
    if (slug.startsWith(prefix)) return names[slug.slice(prefix.length)] ?? null;
  }
  return null;
}

/** Names that follow from the numbers and dates at the end of a slug. */
const rules: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [/^tc-temp-.*-gte(\d+)lt(\d+)f$/, (from, to) => `${from}°F to ${to}°F`],
  [/^tc-temp-.*-gte(\d+)f$/, (from) => `${from}°F or more`],
  [/^tc-temp-.*-lt(\d+)f$/, (to) => `Below ${to}°F`],
  [/-gt(\d+)pt(\d)pct$/, (whole, tenth) => `Above ${whole}.${tenth}%`],
  [/^(?:nfpc|kpic)-.*-(?:gt|above-)(\d+)k$/, (thousands) => `Above ${thousands},000`],
  [
    /^pnwpc-.*-hit-(\d+)(?:pt(\d+))?([bt])$/,
    (whole, part = '', scale) => worth(whole, part, scale),
  ],
  [
    /^rdc-.*-(cut|hike)(\d+)$/,
    (move, points) => `${move === 'cut' ? 'Cut' : 'Hike'} of ${points} bps`,
  ],
  [/^rdc-.*-nochng$/, () => 'No change'],
  [/^scc-.*-gte(\d+)$/, (seats) => `${seats} seats or more`],
  [/^scc-.*-(\d\d)$/, (seats) => `${seats} seats`],
  [/^vtc-.*-(\d+)-(\d+)m$/, (from, to) => `${from} to ${to} million`],
  [/^vtc-.*-gte(\d+)m$/, (from) => `${from} million or more`],
  [/^vmc-.*-els(\d+)-(\d+)$/, (from, to) => `Abdul El-Sayed by ${from} to ${to} points`],
  [/^vmc-.*-elsgte(\d+)$/, (from) => `Abdul El-Sayed by ${from} points or more`],
  [
    /^(?:apdc|opdc|ipcc|aimc|gsc|lawec)-.*?-(?:by-)?(\d{4}-\d\d-\d\d)$/,
    (day) => `By ${dayText(day)}`,
  ],
  [
    /^prdc-gtavi-(\d\d)-(\d\d)-(\d{4})$/,
    (month, day, year) => `By ${dayText(`${year}-${month}-${day}`)}`,
  ],
];

function ruledName(slug: string): string | null {
  for (const [form, name] of rules) {
    const found = form.exec(slug);
    if (found !== null) return name(...found.slice(1));
  }
  return null;
}

function worth(whole = '', part = '', scale = ''): string {
  const amount = part === '' ? whole : `${whole}.${part}`;
  return `$${amount} ${scale === 'b' ? 'billion' : 'trillion'}`;
}

const matchForm = /^Who will win in the upcoming \w+ event (.+) vs (.+)$/;

function matchOf({ slug, question }: RecordedMarket): [string, string] | null {
  const found = matchForm.exec(beforeSchedule(question));
  const [first, second] = cutMatches[slug] ?? found?.slice(1) ?? [];
  const isWhole = cutMatches[slug] !== undefined || beforeSchedule(question) !== question;
  if (found === null || !isWhole || first === undefined || second === undefined) return null;
  return [first, second];
}

/** A question as a whole sentence: as recorded, or put together again from what was not cut. */
function wholeQuestion(market: RecordedMarket): string | null {
  const { slug, question } = market;
  if (question.length < cutAtChars) {
    if (yesNoTitles.has(question)) return question;
    return question.startsWith('Will ') ? `${question.replace(/\?$/, '')}?` : null;
  }
  const day = dayOf(slug);
  const both = cutMatches[slug] ?? /between (.+) and (.+) on 2$/.exec(question)?.slice(1);
  if (both !== undefined && question.startsWith('Will both teams score'))
    return `Will both teams score in the first half of ${both.join(' vs ')} on ${day}?`;
  const start = beforeSchedule(question);
  if (start === question) return null;
  return slug.endsWith('-draw') ? `${start} end in a draw on ${day}?` : `${start} on ${day}?`;
}

const spreadForm = /^Will the (.+) cover ([+-]?[\d.]+) vs the (.+?) in /;

/** Spreads of one pair of sides on one day are one event. */
function spreadName({ slug, question }: RecordedMarket): DemoName | null {
  const [, side, spread, other] = spreadForm.exec(question) ?? [];
  if (side === undefined || spread === undefined || other === undefined) return null;
  const day = dayOf(slug);
  const short = /^[+-]/.test(spread) ? spread : `+${spread}`;
  // Players, and teams that are called by their city.
  const the = /^asc-(atp|wnba)-/.test(slug) ? '' : 'the ';
  return {
    title: `Spread of ${side} vs ${other} on ${day}`,
    question: `Will ${the}${side} cover ${short} against ${the}${other} on ${day}?`,
    short,
  };
}

const schedules = [' match scheduled for ', ' scheduled for '];

/**
 * Part of a question before the schedule of a match, which may be cut off anywhere; the whole question when there is no
 * schedule.
 */
function beforeSchedule(question: string): string {
  const whole = question.indexOf(' scheduled for ');
  if (whole >= 0) return question.slice(0, whole);
  if (question.length < cutAtChars) return question;
  for (let at = question.indexOf(' '); at >= 0; at = question.indexOf(' ', at + 1)) {
    const schedule = schedules.find((text) => text.startsWith(question.slice(at)));
    if (schedule === undefined) continue;
    return `${question.slice(0, at)}${schedule.slice(0, schedule.indexOf(' scheduled'))}`;
  }
  return question;
}

function dayOf(slug: string): string {
  return dayText(/\d{4}-\d\d-\d\d/.exec(slug)?.[0] ?? '');
}

/** A day as it is written: August 2, 2026. */
function dayText(day: string): string {
  const time = new Date(`${day}T00:00:00Z`);
  return time.toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' });
}
