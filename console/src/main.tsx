import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { shortAddress } from './format.ts';
import { streamState } from './live/stream.ts';
import { EventPage } from './pages/event.tsx';
import { MarketsPage } from './pages/markets.tsx';
import { PipelinePage } from './pages/pipeline-page.tsx';
import { LeaderboardPage } from './pages/social.tsx';
import { place } from './router.ts';
import { onShortcut, ShortcutList } from './shortcuts.tsx';
import { PortfolioPage } from './trade/portfolio.tsx';
import {
  disconnect,
  isConnecting,
  notices,
  notify,
  resumeWallet,
  session,
  useBrowserWallet,
  useTestWallet,
} from './trade/session.ts';
import { hasBrowserWallet, testWalletNames } from './trade/wallets.ts';

function Page() {
  const { page } = place.value;
  if (page === 'event') return <EventPage place={place.value} />;
  if (page === 'portfolio') return <PortfolioPage />;
  if (page === 'leaderboard') return <LeaderboardPage />;
  if (page === 'pipeline') return <PipelinePage />;
  return <MarketsPage />;
}

const links = [
  ['#/', 'Markets', ['markets', 'event']],
  ['#/portfolio', 'Portfolio', ['portfolio']],
  ['#/leaderboard', 'Leaderboard', ['leaderboard']],
  ['#/pipeline', 'Pipeline', ['pipeline']],
] as const;

const streamTexts = {
  idle: '',
  live: 'live',
  connecting: 'connecting',
  away: 'no stream: reading in rounds',
} as const;

function App() {
  useEffect(() => {
    resumeWallet();
    addEventListener('keydown', onShortcut);
    return () => removeEventListener('keydown', onShortcut);
  }, []);
  return (
    <>
      <header class="top">
        <a class="brand" href="#/">
          <span class="logo" aria-hidden="true" /> Exchange
        </a>
        <nav aria-label="Pages">
          {links.map(([href, name, pages]) => (
            <a
              key={href}
              href={href}
              aria-current={pages.some((one) => one === place.value.page) ? 'page' : undefined}
            >
              {name}
            </a>
          ))}
        </nav>
        <span class="stream" title={streamTexts[streamState.value]} data-testid="stream">
          {streamState.value !== 'idle' && <span class={`dot ${streamState.value}`} />}{' '}
          <span class="stream-text">{streamTexts[streamState.value]}</span>
        </span>
        <WalletMenu />
      </header>
      <Page />
      <footer class="bottom quiet">
        <span>
          <a href="/docs">API</a> · test money only where the wallets are test wallets
        </span>
        <span>
          Charts:{' '}
          <a href="https://www.tradingview.com/" rel="noreferrer">
            TradingView
          </a>{' '}
          Lightweight Charts™
        </span>
      </footer>
      <ShortcutList />
      <div class="notices" role="status" aria-live="polite">
        {notices.value.map(({ id, kind, text }) => (
          <p key={id} class={kind}>
            {text}
          </p>
        ))}
      </div>
    </>
  );
}

/** Picks the wallet that trades. */
function WalletMenu() {
  const current = session.value;
  const choose = (value: string): void => {
    if (value === 'none') void disconnect();
    else if (value === 'browser') void useBrowserWallet();
    else if (value !== '') void useTestWallet(Number(value));
  };
  const copy = async (): Promise<void> => {
    if (current === null) return;
    await navigator.clipboard?.writeText(current.address);
    notify('good', 'The address is copied.');
  };
  const value = current === null ? '' : String(testWalletNames.indexOf(current.name));
  return (
    <span class="wallet">
      {current !== null && (
        <button type="button" class="small" title={current.address} onClick={() => void copy()}>
          {shortAddress(current.address)}
        </button>
      )}
      <select
        id="wallet"
        aria-label="Wallet"
        disabled={isConnecting.value}
        value={value === '-1' ? 'browser' : value}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        <option value="">{isConnecting.value ? 'Connecting…' : 'Connect wallet'}</option>
        {testWalletNames.map((name, index) => (
          <option key={name} value={String(index)}>
            {name}
          </option>
        ))}
        {hasBrowserWallet() && <option value="browser">Browser wallet</option>}
        {current !== null && <option value="none">Disconnect</option>}
      </select>
    </span>
  );
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
