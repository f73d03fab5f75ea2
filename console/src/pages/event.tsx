import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { getJson, origin, textOf } from '../api.ts';
import { percent, usdShort } from '../format.ts';
import { followBook, followTape, inRounds } from '../live/follow.ts';
import { eventOfWire, type Market, type MarketEvent, type WireEvent } from '../market/catalog.ts';
import { ChartView, type TradeListener } from '../market/chart-view.tsx';
import type { Book } from '../market/ladder.ts';
import { LadderView } from '../market/ladder-view.tsx';
import { PastView } from '../market/past-view.tsx';
import { TapeView } from '../market/tape-view.tsx';
import { eventHref, type Place } from '../place.ts';
import { OrdersView, PositionsView } from '../trade/portfolio.tsx';
import { cancelAll, openOrders } from '../trade/session.ts';
import { TicketView, ticket } from '../trade/ticket.tsx';
import { Picture } from './markets.tsx';
import { ActivityView, CommentsView, HoldersView } from './social.tsx';

const readEveryMs = 10_000;

/** The trading screen of an event. */
export function EventPage({ place }: { readonly place: Place }) {
  const [event, setEvent] = useState<MarketEvent | null>(null);
  const [error, setError] = useState('');
  useEffect(() => {
    setEvent(null);
    setError('');
    const path = `/gamma/events/slug/${encodeURIComponent(place.slug)}`;
    const read = () => getJson<WireEvent>(path).catch((failure: unknown) => textOf(failure));
    return inRounds(readEveryMs, read, (result) => {
      setError(typeof result === 'string' ? result : '');
      if (typeof result !== 'string') setEvent(eventOfWire(result, origin));
    });
  }, [place.slug]);
  if (event === null) {
    return (
      <main class="page">
        <p class="quiet pad">{error === '' ? 'Reading the event…' : error}</p>
      </main>
    );
  }
  const market =
    event.markets.find(({ conditionId }) => conditionId === place.condition) ?? event.markets[0];
  if (market === undefined) return <main class="page">This event has no markets.</main>;
  return <MarketScreen key={market.conditionId} event={event} market={market} />;
}

function MarketScreen({ event, market }: { readonly event: MarketEvent; readonly market: Market }) {
  const [outcome, setOutcome] = useState(0);
  const token = market.tokens[outcome] ?? market.tokens[0];
  const listener = useRef<TradeListener['current']>(() => undefined);
  const past = useMemo(() => signal<Book | null>(null), []);
  const book = useBook(token);
  const tape = useMemo(
    () => followTape(market, (trade) => listener.current(trade)),
    [market.conditionId],
  );
  useEffect(() => () => tape.stop(), [tape]);
  const shown = past.value === null ? book : past;
  const takePrice = (price: string): void => {
    const cents = String(Number((Number(price) * 100).toFixed(2)));
    ticket.value = { ...ticket.value, price: cents };
  };
  return (
    <main class="screen">
      <div class="column main-column">
        <EventHead event={event} market={market} />
        <ChartView token={token} outcome={outcome} listener={listener} />
        <Tabs event={event} market={market} />
      </div>
      <div class="column book-column">
        <section class={`panel${past.value === null ? '' : ' is-past'}`}>
          <header>
            <h2>{past.value === null ? 'Book' : 'Past book'}</h2>
            <Outcomes market={market} outcome={outcome} onOutcome={setOutcome} />
          </header>
          <LadderView
            book={shown}
            tokens={market.tokens}
            outcome={outcome}
            isPast={past.value !== null}
            onPrice={takePrice}
          />
          <PastView token={token} book={past} />
        </section>
      </div>
      <div class="column trade-column">
        <section class="panel">
          <header>
            <h2>Trade</h2>
          </header>
          <TicketView market={market} outcome={outcome} book={book} onOutcome={setOutcome} />
        </section>
        <section class="panel">
          <header>
            <h2>Trades</h2>
          </header>
          <TapeView tape={tape.tape} outcomes={market.outcomes} />
        </section>
      </div>
    </main>
  );
}

/** The live book of a token. */
function useBook(token: string): Signal<Book | null> {
  const followed = useMemo(() => followBook(token), [token]);
  useEffect(() => () => followed.stop(), [followed]);
  return followed.book;
}

function Outcomes(props: {
  readonly market: Market;
  readonly outcome: number;
  readonly onOutcome: (outcome: number) => void;
}) {
  return (
    <fieldset class="choices">
      <legend class="unseen">Book of</legend>
      {props.market.outcomes.map((name, index) => (
        <button
          key={name}
          type="button"
          aria-pressed={index === props.outcome}
          onClick={() => props.onOutcome(index)}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}

function EventHead({ event, market }: { readonly event: MarketEvent; readonly market: Market }) {
  return (
    <header class="event-head">
      <Picture event={event} size={52} />
      <div>
        <h1>{event.markets.length === 1 ? market.question : event.title}</h1>
        {event.markets.length > 1 && <p>{market.question}</p>}
        <p class="quiet">
          {usdShort(event.volume24h)} today
          {event.endDate !== null && ` · ends ${event.endDate.slice(0, 10)}`}
          {!market.isOpen && ' · closed'}
        </p>
      </div>
      {event.markets.length > 1 && (
        <nav class="market-list" aria-label="Markets of the event">
          {event.markets.map((one) => (
            <a
              key={one.conditionId}
              href={eventHref(event.slug, one.conditionId)}
              aria-current={one.conditionId === market.conditionId ? 'page' : undefined}
            >
              <span>{one.label}</span>
              <strong>{percent(one.price)}</strong>
            </a>
          ))}
        </nav>
      )}
    </header>
  );
}

const tabs = ['Orders', 'Positions', 'Activity', 'Holders', 'Comments', 'Rules'] as const;
const tab = signal<(typeof tabs)[number]>('Activity');

function Tabs({ event, market }: { readonly event: MarketEvent; readonly market: Market }) {
  const own = openOrders.value.filter(({ asset_id }) => market.tokens.includes(asset_id)).length;
  return (
    <section class="panel tabs">
      <div class="tab-list" role="tablist">
        {tabs.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === tab.value}
            aria-controls="tab-panel"
            onClick={() => {
              tab.value = name;
            }}
          >
            {name}
            {name === 'Orders' && own > 0 && <em>{own}</em>}
          </button>
        ))}
        {tab.value === 'Orders' && own > 0 && (
          <button type="button" class="small end" onClick={() => void cancelAll()}>
            Cancel all
          </button>
        )}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab.value}`}>
        {tab.value === 'Orders' && <OrdersView tokens={market.tokens} />}
        {tab.value === 'Positions' && <PositionsView condition={market.conditionId} />}
        {tab.value === 'Activity' && <ActivityView market={market} />}
        {tab.value === 'Holders' && <HoldersView market={market} />}
        {tab.value === 'Comments' && <CommentsView event={event} />}
        {tab.value === 'Rules' && (
          <p class="pad rules">
            {market.description === '' ? event.description : market.description}
          </p>
        )}
      </div>
    </section>
  );
}
