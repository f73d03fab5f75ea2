import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { getJson, textOf } from '../api.ts';
import { ago, cents, clock, shares, shortAddress, usd } from '../format.ts';
import { inRounds } from '../live/follow.ts';
import { stream } from '../live/stream.ts';
import type { Market, MarketEvent } from '../market/catalog.ts';
import { notify, session } from '../trade/session.ts';

/** A list that is read again in rounds while it is shown. */
function useRounds<T>(everyMs: number, read: () => Promise<T>, key: string): Signal<T | null> {
  const value = useMemo(() => signal<T | null>(null), [key]);
  useEffect(
    () =>
      inRounds(everyMs, read, (newest) => {
        value.value = newest;
      }),
    [key],
  );
  return value;
}

/** A person as lists name them: the chosen name, else a made one. */
function nameOf(person: {
  readonly name?: string | undefined;
  readonly pseudonym?: string | undefined;
}): string {
  return (
    [person.name, person.pseudonym].find((one) => one !== undefined && one !== '') ?? 'Unnamed'
  );
}

interface Holder {
  readonly proxyWallet: string;
  readonly name: string;
  readonly pseudonym: string;
  readonly amount: number;
}

/** The largest holders of both outcomes. */
export function HoldersView({ market }: { readonly market: Market }) {
  const read = () =>
    getJson<readonly { holders: readonly Holder[] }[]>('/holders', {
      market: market.conditionId,
      limit: 12,
    });
  const lists = useRounds(10_000, read, market.conditionId).value;
  if (lists === null) return <p class="quiet pad">Reading…</p>;
  return (
    <div class="halves">
      {market.outcomes.map((outcome, index) => (
        <table key={outcome}>
          <thead>
            <tr>
              <th>Holders of {outcome}</th>
              <th class="number">Shares</th>
            </tr>
          </thead>
          <tbody>
            {(lists[index]?.holders ?? []).map((holder) => (
              <tr key={holder.proxyWallet}>
                <td title={holder.proxyWallet}>
                  {nameOf(holder)} <span class="quiet">{shortAddress(holder.proxyWallet)}</span>
                </td>
                <td class="number">{shares(holder.amount)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </div>
  );
}

interface LedgerRow {
  readonly proxyWallet: string;
  readonly name: string;
  readonly pseudonym: string;
  readonly side: string;
  readonly size: number;
  readonly price: number;
  readonly usdcSize: number;
  readonly timestamp: number;
  readonly outcome: string;
  readonly transactionHash: string;
}

/** Both sides of the newest trades, with their wallets. */
export function ActivityView({ market }: { readonly market: Market }) {
  const query = { market: market.conditionId, limit: 25, takerOnly: false };
  const rows = useRounds(
    3_000,
    () => getJson<readonly LedgerRow[]>('/trades', query),
    market.conditionId,
  ).value;
  if (rows === null) return <p class="quiet pad">Reading…</p>;
  if (rows.length === 0) return <p class="quiet pad">No activity yet.</p>;
  return (
    <div class="scroll">
      <table>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.transactionHash}${row.proxyWallet}${row.size}`}>
              <td class="quiet">{clock(row.timestamp)}</td>
              <td title={row.proxyWallet}>{nameOf(row)}</td>
              <td class={row.side === 'BUY' ? 'up' : 'down'}>
                {row.side === 'BUY' ? 'bought' : 'sold'} {shares(row.size)} {row.outcome}
              </td>
              <td class="number">{cents(row.price)}</td>
              <td class="number quiet">{usd(row.usdcSize)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface WireComment {
  readonly id: string;
  readonly body: string | null;
  readonly createdAt: string;
  readonly userAddress: string;
  readonly profile?: { readonly name?: string; readonly pseudonym?: string };
}

/** Comments of an event as plain text: what looks like a link or markup is text too. */
export function CommentsView({ event }: { readonly event: MarketEvent }) {
  const [round, setRound] = useState(0);
  const query = { parent_entity_type: 'Event', parent_entity_id: event.id, limit: 30 };
  const read = () => getJson<readonly WireComment[]>('/comments', query);
  const comments = useRounds(10_000, read, `${event.id} ${round}`).value;
  const again = (): void => setRound((before) => before + 1);
  useEffect(
    () =>
      stream.subscribe(
        { channel: 'comments', key: event.id },
        ({ type }) => type === 'event' && again(),
      ),
    [event.id],
  );
  return (
    <div class="comments" data-testid="comments">
      {session.value !== null && <CommentForm event={event} onWritten={again} />}
      {comments === null && <p class="quiet pad">Reading…</p>}
      {comments?.length === 0 && <p class="quiet pad">No comments yet.</p>}
      {comments?.map((comment) => (
        <article key={comment.id}>
          <header>
            <strong>{nameOf(comment.profile ?? {})}</strong>{' '}
            <span class="quiet" title={comment.userAddress}>
              {shortAddress(comment.userAddress)} · {ago(Date.parse(comment.createdAt), Date.now())}
            </span>
          </header>
          <p>{comment.body}</p>
        </article>
      ))}
    </div>
  );
}

const commentMax = 1_000;

function CommentForm({
  event,
  onWritten,
}: {
  readonly event: MarketEvent;
  readonly onWritten: () => void;
}) {
  const [body, setBody] = useState('');
  const write = async (submitted: Event): Promise<void> => {
    submitted.preventDefault();
    const text = body.trim();
    if (text === '' || session.value === null) return;
    try {
      await session.value.client.comments.write({
        parent_entity_type: 'Event',
        parent_entity_id: event.id,
        body: text,
      });
      setBody('');
      onWritten();
    } catch (error) {
      notify('bad', textOf(error));
    }
  };
  return (
    <form class="comment-form" onSubmit={(submitted) => void write(submitted)}>
      <label class="unseen" for="comment">
        Comment
      </label>
      <input
        id="comment"
        maxLength={commentMax}
        value={body}
        placeholder="Write a comment"
        autocomplete="off"
        onInput={({ currentTarget }) => setBody(currentTarget.value)}
      />
      <button type="submit" class="small" disabled={body.trim() === ''}>
        Post
      </button>
    </form>
  );
}

interface Rank {
  readonly rank: string;
  readonly proxyWallet: string;
  readonly userName: string;
  readonly vol: number;
  readonly pnl: number;
}

const periods = { DAY: 'Today', WEEK: 'Week', MONTH: 'Month', ALL: 'All time' } as const;
type Period = keyof typeof periods;

/** Wallets by profit or volume. */
export function LeaderboardPage() {
  const [period, setPeriod] = useState<Period>('ALL');
  const [orderBy, setOrderBy] = useState<'PNL' | 'VOL'>('PNL');
  const read = () =>
    getJson<readonly Rank[]>('/v1/leaderboard', { timePeriod: period, orderBy, limit: 50 });
  const rows = useRounds(10_000, read, `${period} ${orderBy}`).value;
  return (
    <main class="page">
      <h1>Leaderboard</h1>
      <div class="line">
        <fieldset class="choices">
          <legend class="unseen">Period</legend>
          {(Object.keys(periods) as Period[]).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === period}
              onClick={() => setPeriod(one)}
            >
              {periods[one]}
            </button>
          ))}
        </fieldset>
        <fieldset class="choices">
          <legend class="unseen">Order</legend>
          {(['PNL', 'VOL'] as const).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === orderBy}
              onClick={() => setOrderBy(one)}
            >
              {one === 'PNL' ? 'Profit' : 'Volume'}
            </button>
          ))}
        </fieldset>
      </div>
      <section class="panel scroll">
        <table>
          <thead>
            <tr>
              <th class="number rank">Rank</th>
              <th>Wallet</th>
              <th class="number">Volume</th>
              <th class="number">Profit</th>
            </tr>
          </thead>
          <tbody>
            {rows?.map((row) => (
              <tr key={row.proxyWallet}>
                <td class="number quiet">{row.rank}</td>
                <td title={row.proxyWallet}>
                  {row.userName === '' ? 'Unnamed' : row.userName}{' '}
                  <span class="quiet">{shortAddress(row.proxyWallet)}</span>
                </td>
                <td class="number">{usd(row.vol)}</td>
                <td class={`number ${row.pnl < 0 ? 'down' : 'up'}`}>{usd(row.pnl)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {rows?.length === 0 && <p class="quiet pad">No wallet traded in this period.</p>}
        {rows === null && <p class="quiet pad">Reading…</p>}
      </section>
    </main>
  );
}
