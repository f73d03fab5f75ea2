import type { Signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { getJson, textOf } from '../api.ts';
import { clock } from '../format.ts';
import type { PipelineStatus } from '../pages/pipeline.ts';
import { type Book, bookOfWire, type Level } from './ladder.ts';

const spans = { '10 min': 600, '1 h': 3_600, '24 h': 86_400 } as const;
type Span = keyof typeof spans;
/** Steps of the slider. */
const steps = 200;
/** Pause after the last movement before the book is read, milliseconds. */
const settleMs = 120;
/** Past books are read from the tables, which have a moment some seconds later: how often they are asked, and when. */
const waitsMax = 30;
const waitMs = 1_000;

/** The book of a token at a moment; null while the tables do not have the moment. */
async function bookAt(token: string, atMs: number): Promise<Book | null> {
  const { projections } = await getJson<PipelineStatus>('/status');
  const tables = projections.find(({ projection }) => projection === 'tables');
  if (!(Date.parse(tables?.completeThrough ?? '') > atMs)) return null;
  const query = { token_id: token, at: atMs };
  return bookOfWire(
    await getJson<{ bids: readonly Level[]; asks: readonly Level[] }>('/book', query),
  );
}

/** A slider over the past: puts the book of a moment into `book`, and null at its right end, which is now. */
export function PastView(props: { readonly token: string; readonly book: Signal<Book | null> }) {
  const { token, book } = props;
  const [span, setSpan] = useState<Span>('10 min');
  const [step, setStep] = useState(steps);
  const [text, setText] = useState('now');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** Counts movements: what was read for an earlier one is not shown. */
  const movement = useRef(0);
  useEffect(() => {
    setStep(steps);
    setText('now');
    book.value = null;
    return () => {
      movement.current += 1;
      clearTimeout(timer.current);
    };
  }, [token, book]);
  const move = (to: number, within: Span): void => {
    setStep(to);
    movement.current += 1;
    clearTimeout(timer.current);
    if (to >= steps) {
      book.value = null;
      setText('now');
      return;
    }
    const atMs = Math.round(Date.now() - ((steps - to) / steps) * spans[within] * 1000);
    setText(clock(atMs));
    timer.current = setTimeout(() => void show(atMs, waitsMax), settleMs);
  };
  const show = async (atMs: number, waitsLeft: number): Promise<void> => {
    const shown = movement.current;
    try {
      const found = await bookAt(token, atMs);
      if (shown !== movement.current) return;
      if (found !== null) {
        book.value = found;
        setText(clock(atMs));
        return;
      }
      setText(`${clock(atMs)}: not in the tables yet`);
      if (waitsLeft > 0) timer.current = setTimeout(() => void show(atMs, waitsLeft - 1), waitMs);
    } catch (error) {
      if (shown === movement.current) setText(`${clock(atMs)}: ${textOf(error)}`);
    }
  };
  return (
    <div class="past">
      <label for="past">Book at a moment</label>
      <output for="past" data-testid="past-moment">
        {text}
      </output>
      <input
        id="past"
        type="range"
        min={0}
        max={steps}
        value={step}
        aria-valuetext={text}
        onInput={({ currentTarget }) => move(Number(currentTarget.value), span)}
      />
      <select
        aria-label="Length of the past"
        value={span}
        onChange={({ currentTarget }) => {
          const next = currentTarget.value as Span;
          setSpan(next);
          move(step, next);
        }}
      >
        {Object.keys(spans).map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </div>
  );
}
