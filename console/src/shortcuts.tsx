import { signal } from '@preact/signals';
import { cancelAll } from './trade/session.ts';
import { ticket } from './trade/ticket.tsx';

const isListShown = signal(false);
/** A field of a page that is not there yet is about to get the focus. */
let isFieldAwaited = false;
const framesMax = 30;

/** Keys outside of fields, and what they do. */
const shortcuts: Readonly<Record<string, { readonly text: string; run(): void }>> = {
  '/': { text: 'search', run: () => focusOn('search', '#/') },
  b: { text: 'buy: to the price', run: () => startOrder('BUY') },
  s: { text: 'sell: to the price', run: () => startOrder('SELL') },
  w: { text: 'choose a wallet', run: () => document.getElementById('wallet')?.focus() },
  x: { text: 'cancel all orders', run: () => void cancelAll() },
  m: { text: 'markets', run: () => goTo('#/') },
  p: { text: 'portfolio', run: () => goTo('#/portfolio') },
  l: { text: 'leaderboard', run: () => goTo('#/leaderboard') },
  i: { text: 'pipeline', run: () => goTo('#/pipeline') },
  '?': { text: 'this list', run: () => (isListShown.value = !isListShown.value) },
};

/** Runs the shortcut of a key, unless a field has the focus. Escape leaves a field. */
export function onShortcut(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (event.key === 'Escape') {
    isListShown.value = false;
    target.blur();
    return;
  }
  const isField = target.matches('input:not([type=range]):not([type=checkbox]), select, textarea');
  if (isField || event.ctrlKey || event.metaKey || event.altKey || isFieldAwaited) return;
  const shortcut = shortcuts[event.key];
  if (shortcut === undefined) return;
  event.preventDefault();
  shortcut.run();
}

function goTo(hash: string): void {
  location.hash = hash;
}

/**
 * Focuses a field, if need be on another page. Keys that are pressed until the field is there are letters for it: they
 * must not run as shortcuts.
 */
function focusOn(id: string, hash: string): void {
  const field = document.getElementById(id);
  if (field !== null) {
    field.focus();
    return;
  }
  goTo(hash);
  isFieldAwaited = true;
  focusWhenThere(id, framesMax);
}

function focusWhenThere(id: string, framesLeft: number): void {
  const field = document.getElementById(id);
  if (field === null && framesLeft > 0) {
    requestAnimationFrame(() => focusWhenThere(id, framesLeft - 1));
    return;
  }
  isFieldAwaited = false;
  field?.focus();
}

function startOrder(side: 'BUY' | 'SELL'): void {
  ticket.value = { ...ticket.value, side };
  const price = document.getElementById('ticket-price') as HTMLInputElement | null;
  price?.focus();
  price?.select();
}

/** The list of keys. */
export function ShortcutList() {
  if (!isListShown.value) return null;
  return (
    <dialog open class="shortcuts" aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {Object.entries(shortcuts).map(([key, { text }]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}
