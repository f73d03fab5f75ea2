import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { getJson, origin } from '../api.ts';
import { percent, percents, usdShort } from '../format.ts';
import { inRounds } from '../live/follow.ts';
import { eventOfWire, type Market, type MarketEvent, type WireEvent } from '../market/catalog.ts';
import { eventHref } from '../place.ts';

const events = signal<readonly MarketEvent[] | null>(null);
const eventsShown = 36;
const readEveryMs = 10_000;
/** Pause after the last letter before the search is sent, milliseconds. */
const settleMs = 200;

async function busiest(): Promise<readonly MarketEvent[]> {
  const query = { limit: eventsShown, order: 'volume24hr', ascending: false, closed: false };
  const read = await getJson<readonly WireEvent[]>('/gamma/events', query);
  return read.map((one) => eventOfWire(one, origin));
}

async function found(words: string): Promise<readonly MarketEvent[]> {
  const query = { q: words, limit_per_type: eventsShown };
  const read = await getJson<{ events?: readonly WireEvent[] | null }>(
    '/gamma/public-search',
    query,
  );
  return (read.events ?? []).map((one) => eventOfWire(one, origin));
}

/** Events as cards, the busiest first, and a search over all. */
export function MarketsPage() {
  const [words, setWords] = useState('');
  useEffect(() => {
    const text = words.trim();
    let stop = (): void => undefined;
    const timer = setTimeout(
      () => {
        const read = () => (text === '' ? busiest() : found(text));
        stop = inRounds(readEveryMs, read, (newest) => {
          events.value = newest;
        });
      },
      text === '' ? 0 : settleMs,
    );
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [words]);
  return (
    <main class="page">
      <h1 class="unseen">Markets</h1>
      <input
        id="search"
        type="search"
        class="search"
        aria-label="Search events and markets"
        placeholder="Search events and markets   ( / )"
        autocomplete="off"
        value={words}
        onInput={({ currentTarget }) => setWords(currentTarget.value)}
      />
      {events.value === null && <p class="quiet pad">Reading the catalog…</p>}
      {events.value?.length === 0 && <p class="quiet pad">Nothing fits these words.</p>}
      <div class="cards" data-testid="events">
        {events.value?.map((event) => (
          <EventCard key={event.id} event={event} />
        ))}
      </div>
    </main>
  );
}

const marketsOnCard = 3;

function EventCard({ event }: { readonly event: MarketEvent }) {
  const first = event.markets[0];
  const isSingle = event.markets.length === 1;
  return (
    <article class="card">
      <a class="card-head" href={eventHref(event.slug)}>
        <Picture event={event} size={44} />
        <h2>{event.title}</h2>
      </a>
      {!isSingle && (
        <ul>
          {event.markets.slice(0, marketsOnCard).map((market) => (
            <li key={market.conditionId}>
              <a href={eventHref(event.slug, market.conditionId)}>
                <span>{market.label}</span>
                <strong>{percent(market.price)}</strong>
                <span class="level" style={{ transform: `scaleX(${market.price ?? 0})` }} />
              </a>
            </li>
          ))}
        </ul>
      )}
      {isSingle && first !== undefined && (
        <ul>
          {first.outcomes.map((name, index) => (
            <li key={name}>
              <a href={eventHref(event.slug)}>
                <span>{name}</span>
                <strong>{percents(first.price)[index]}</strong>
                <span
                  class="level"
                  style={{ transform: `scaleX(${chanceOf(first, index) ?? 0})` }}
                />
              </a>
            </li>
          ))}
        </ul>
      )}
      <footer class="quiet">
        <span>{usdShort(event.volume24h)} today</span>
        <span>{event.markets.length === 1 ? '1 market' : `${event.markets.length} markets`}</span>
      </footer>
    </article>
  );
}

const chanceOf = ({ price }: Market, outcome: number) =>
  price === null || outcome === 0 ? price : 1 - price;

/** The picture of an event, or its first letter. */
export function Picture({ event, size }: { readonly event: MarketEvent; readonly size: number }) {
  const [isBroken, setBroken] = useState(false);
  if (event.picture === null || isBroken) {
    return <span class="picture letter">{event.title.slice(0, 1)}</span>;
  }
  return (
    <img
      class="picture"
      src={event.picture}
      width={size}
      height={size}
      alt=""
      loading="lazy"
      referrerpolicy="no-referrer"
      onError={() => setBroken(true)}
    />
  );
}
