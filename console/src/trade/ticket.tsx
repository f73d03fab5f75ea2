import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { getJson, textOf } from '../api.ts';
import { cents, shares, usd } from '../format.ts';
import type { Market } from '../market/catalog.ts';
import { type Book, emptyBook } from '../market/ladder.ts';
import {
  type OrderKind,
  type Preview,
  previewOf,
  readTicket,
  type Ticket,
  type TicketRules,
} from './order-form.ts';
import { cash, notify, positions, readOwn, session } from './session.ts';
import { noteServerTiming } from './timings.ts';

/** The ticket; it keeps its values between markets. */
export const ticket = signal<Ticket>({
  side: 'BUY',
  kind: 'GTC',
  price: '',
  size: '10',
  postOnly: false,
  minutes: '60',
});
const isSending = signal(false);

const kinds: Readonly<Record<OrderKind, string>> = {
  GTC: 'until canceled',
  GTD: 'until a time',
  FOK: 'all or nothing',
  FAK: 'what is there',
};

function change(changes: Partial<Ticket>): void {
  const next = { ...ticket.value, ...changes };
  const rests = next.kind === 'GTC' || next.kind === 'GTD';
  ticket.value = { ...next, postOnly: next.postOnly && rests };
}

/** The order ticket of a token. */
export function TicketView(props: {
  readonly market: Market;
  readonly outcome: number;
  readonly book: Signal<Book | null>;
  readonly onOutcome: (outcome: number) => void;
}) {
  const { market, outcome } = props;
  const token = market.tokens[outcome] ?? market.tokens[0];
  const feeRate = useFeeRate(token);
  const rules: TicketRules = {
    tick: market.tick,
    minSize: market.minSize,
    feeRateBps: feeRate.value,
  };
  const ready = readTicket(ticket.value, rules);
  const preview =
    'error' in ready ? null : previewOf(ready, ticket.value, rules, props.book.value ?? emptyBook);
  const send = (event: Event): void => {
    event.preventDefault();
    if (!('error' in ready)) void place(token, ready);
  };
  return (
    <form class="ticket" onSubmit={send} aria-label="Order ticket">
      <Sides market={market} outcome={outcome} onOutcome={props.onOutcome} />
      <Fields rules={rules} token={token} />
      <p class="hint" id="ticket-error" role="status">
        {'error' in ready
          ? ticket.value.price === ''
            ? 'Choose a price.'
            : ready.error
          : preview?.outcome}
      </p>
      {preview !== null && <PreviewView preview={preview} />}
      <SendButton
        isReady={preview !== null}
        label={`${ticket.value.side === 'BUY' ? 'Buy' : 'Sell'} ${market.outcomes[outcome]}`}
      />
    </form>
  );
}

function Sides(props: {
  readonly market: Market;
  readonly outcome: number;
  readonly onOutcome: (outcome: number) => void;
}) {
  const { market, outcome } = props;
  return (
    <>
      <fieldset class="choices wide">
        <legend class="unseen">Side</legend>
        {(['BUY', 'SELL'] as const).map((side) => (
          <button
            key={side}
            type="button"
            class={side === 'BUY' ? 'up' : 'down'}
            aria-pressed={ticket.value.side === side}
            onClick={() => change({ side })}
          >
            {side === 'BUY' ? 'Buy' : 'Sell'}
          </button>
        ))}
      </fieldset>
      <fieldset class="choices wide">
        <legend class="unseen">Outcome</legend>
        {market.outcomes.map((name, index) => (
          <button
            key={name}
            type="button"
            aria-pressed={index === outcome}
            onClick={() => props.onOutcome(index)}
          >
            {name}
          </button>
        ))}
      </fieldset>
    </>
  );
}

function Fields({ rules, token }: { readonly rules: TicketRules; readonly token: string }) {
  const { kind, price, size, postOnly, minutes } = ticket.value;
  const held = positions.value.find((one) => one.asset === token);
  return (
    <div class="fields">
      <label for="ticket-kind">Type</label>
      <select
        id="ticket-kind"
        value={kind}
        onChange={({ currentTarget }) => change({ kind: currentTarget.value as OrderKind })}
      >
        {Object.entries(kinds).map(([name, meaning]) => (
          <option key={name} value={name}>
            {name} · {meaning}
          </option>
        ))}
      </select>
      <label for="ticket-price">Price, ¢</label>
      <input
        id="ticket-price"
        inputMode="decimal"
        autocomplete="off"
        value={price}
        placeholder={`steps of ${Number(rules.tick) * 100}`}
        onInput={({ currentTarget }) => change({ price: currentTarget.value })}
        aria-describedby="ticket-error"
      />
      <label for="ticket-size">Shares</label>
      <input
        id="ticket-size"
        inputMode="decimal"
        autocomplete="off"
        value={size}
        onInput={({ currentTarget }) => change({ size: currentTarget.value })}
        aria-describedby="ticket-error"
      />
      {kind === 'GTD' && (
        <>
          <label for="ticket-minutes">Minutes</label>
          <input
            id="ticket-minutes"
            inputMode="numeric"
            autocomplete="off"
            value={minutes}
            onInput={({ currentTarget }) => change({ minutes: currentTarget.value })}
          />
        </>
      )}
      <label for="ticket-post">Post only</label>
      <span>
        <input
          id="ticket-post"
          type="checkbox"
          checked={postOnly}
          disabled={kind === 'FOK' || kind === 'FAK'}
          onChange={({ currentTarget }) => change({ postOnly: currentTarget.checked })}
        />
        {held !== undefined && <span class="quiet held">you hold {shares(held.size)}</span>}
      </span>
    </div>
  );
}

function PreviewView({ preview }: { readonly preview: Preview }) {
  const isBuy = ticket.value.side === 'BUY';
  const whole = isBuy
    ? preview.filledCost + preview.fee + preview.restCost
    : preview.filledCost - preview.fee;
  const rows: readonly (readonly [string, string])[] = [
    [
      'Trades at once',
      preview.filled === 0 ? '–' : `${shares(preview.filled)} at ${cents(preview.averagePrice)}`,
    ],
    ['Fee', usd(preview.fee, 4)],
    [
      'Rests',
      preview.rest === 0 || preview.outcome.includes('canceled') ? '–' : shares(preview.rest),
    ],
    [isBuy ? 'Cost at most' : 'Proceeds at once', usd(whole)],
    ...(isBuy
      ? ([
          ['Pays if right', usd(preview.filled + (preview.restCost > 0 ? preview.rest : 0))],
        ] as const)
      : []),
  ];
  return (
    <dl class="preview" data-testid="preview">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function SendButton({ isReady, label }: { readonly isReady: boolean; readonly label: string }) {
  const isBuy = ticket.value.side === 'BUY';
  if (session.value === null) {
    return (
      <button type="button" class="send" onClick={openWalletMenu}>
        Connect a wallet to trade
      </button>
    );
  }
  return (
    <>
      <button
        type="submit"
        class={`send ${isBuy ? 'up' : 'down'}`}
        disabled={!isReady || isSending.value}
      >
        {isSending.value ? 'Sending…' : label}
      </button>
      <p class="quiet hint">{cash.value === null ? '' : `${usd(cash.value.free)} available`}</p>
    </>
  );
}

function openWalletMenu(): void {
  document.getElementById('wallet')?.focus();
}

async function place(
  token: string,
  ready: { readonly price: string; readonly size: string },
): Promise<void> {
  const current = session.value;
  if (current === null || isSending.value) return;
  const { side, kind, postOnly, minutes } = ticket.value;
  isSending.value = true;
  try {
    const expiration = Math.floor(Date.now() / 1000) + Math.round(Number(minutes) * 60);
    const result = await current.client.placeOrder({
      tokenId: token,
      side,
      timeInForce: kind,
      ...ready,
      ...(postOnly ? { postOnly } : {}),
      ...(kind === 'GTD' ? { expiration } : {}),
    });
    noteServerTiming();
    if (result.success) notify('good', `The order is ${result.status}.`);
    else notify('bad', result.errorMsg);
  } catch (error) {
    notify('bad', textOf(error));
  } finally {
    isSending.value = false;
    void readOwn();
  }
}

/** The fee rate of a token in basis points; 0 until it is read. */
function useFeeRate(token: string): Signal<number> {
  const rate = useMemo(() => signal(0), [token]);
  useEffect(() => {
    void getJson<{ base_fee: number }>('/fee-rate', { token_id: token }).then(
      ({ base_fee }) => {
        rate.value = base_fee;
      },
      () => undefined,
    );
  }, [token, rate]);
  return rate;
}
