import {
  CandlestickSeries,
  createChart,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  LineSeries,
  type UTCTimestamp,
} from 'lightweight-charts';
import { useEffect, useRef, useState } from 'preact/hooks';
import { getJson } from '../api.ts';
import { cents } from '../format.ts';
import type { TapeTrade } from '../live/follow.ts';
import { type Candle, candlesOfWire, type WireCandle, withTrade } from './chart-data.ts';

const widths = { '1m': 60, '5m': 300, '1h': 3_600, '1d': 86_400 } as const;
type Width = keyof typeof widths;
const candlesShown = 500;
/** So many candles are stretched over the whole width. */
const fitMax = 120;
const midpointEveryMs = 15_000;

/** Trades arrive by this; the chart sets it while it is shown. */
export type TradeListener = { current: (trade: TapeTrade) => void };

/** Candles of trades, and midpoints as a line. */
export function ChartView(props: {
  readonly token: string;
  readonly outcome: number;
  readonly listener: TradeListener;
}) {
  const { token, outcome, listener } = props;
  const [width, setWidth] = useState<Width>('1m');
  const [count, setCount] = useState(0);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (element.current === null) return;
    const chart = openPriceChart(element.current, { token, outcome, width, onCount: setCount });
    listener.current = chart.take;
    return () => {
      listener.current = () => undefined;
      chart.close();
    };
  }, [token, outcome, width, listener]);
  return (
    <section class="panel chart-panel">
      <header>
        <h2>Price</h2>
        <span class="quiet" data-testid="candle-count" data-count={count}>
          {count === 0 ? 'no trades yet' : 'candles of trades, line of midpoints'}
        </span>
        <fieldset class="choices">
          <legend class="unseen">Width of a candle</legend>
          {(Object.keys(widths) as Width[]).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === width}
              onClick={() => setWidth(one)}
            >
              {one}
            </button>
          ))}
        </fieldset>
      </header>
      <div class="chart" ref={element} />
    </section>
  );
}

interface PriceChart {
  readonly take: (trade: TapeTrade) => void;
  close(): void;
}

interface ChartOptions {
  readonly token: string;
  readonly outcome: number;
  readonly width: Width;
  /** Trades that the chart shows: candles read, and trades since. */
  onCount(count: number): void;
}

function openPriceChart(element: HTMLElement, options: ChartOptions): PriceChart {
  const chart = createChart(element, {
    autoSize: true,
    layout: { attributionLogo: false, background: { color: 'transparent' }, fontSize: 11 },
    timeScale: { timeVisible: true, secondsVisible: false, maxBarSpacing: 14 },
    rightPriceScale: { scaleMargins: { top: 0.08, bottom: 0.24 } },
    localization: { priceFormatter: (price: number) => cents(price / 100) },
  });
  const series = addSeries(chart);
  const stopColors = followColors(chart);
  let newest: Candle | null = null;
  let count = 0;
  let isClosed = false;
  const show = (candle: Candle): void => {
    const time = candle.time as UTCTimestamp;
    series.candles.update({ ...candle, time });
    series.volumes.update({ time, value: candle.volume });
  };
  const readCandles = async (): Promise<void> => {
    const query = { token_id: options.token, interval: options.width, limit: candlesShown };
    const { candles } = await getJson<{ candles: readonly WireCandle[] }>('/candles', query);
    if (isClosed) return;
    const all = candlesOfWire(candles);
    series.candles.setData(all.map((one) => ({ ...one, time: one.time as UTCTimestamp })));
    series.volumes.setData(
      all.map((one) => ({ time: one.time as UTCTimestamp, value: one.volume })),
    );
    if (all.length < fitMax) chart.timeScale().fitContent();
    newest = all.at(-1) ?? null;
    count = all.length;
    options.onCount(count);
  };
  const readMidpoints = async (): Promise<void> => {
    const points = await midpointsOf(options.token, options.width);
    if (!isClosed) series.midpoints.setData(points);
  };
  void readCandles().catch(() => undefined);
  void readMidpoints().catch(() => undefined);
  const timer = setInterval(() => void readMidpoints().catch(() => undefined), midpointEveryMs);
  return {
    take(trade) {
      const whole = Number(trade.price) * 100;
      const price = trade.outcome === options.outcome ? whole : 100 - whole;
      const bucket = widths[options.width];
      const next = withTrade(
        newest,
        { timeSeconds: trade.timeSeconds, cents: price, size: Number(trade.size) },
        bucket,
      );
      if (next === null) return;
      newest = next;
      count += 1;
      show(next);
      options.onCount(count);
    },
    close() {
      isClosed = true;
      clearInterval(timer);
      stopColors();
      chart.remove();
    },
  };
}

function addSeries(chart: IChartApi) {
  const volumes = chart.addSeries(HistogramSeries, {
    priceScaleId: 'volume',
    priceFormat: { type: 'volume' },
    lastValueVisible: false,
    priceLineVisible: false,
  });
  chart.priceScale('volume').applyOptions({ scaleMargins: { top: 0.84, bottom: 0 } });
  const midpoints: ISeriesApi<'Line'> = chart.addSeries(LineSeries, {
    lineWidth: 1,
    priceLineVisible: false,
    lastValueVisible: false,
    crosshairMarkerVisible: false,
  });
  const candles = chart.addSeries(CandlestickSeries, {
    borderVisible: false,
    priceFormat: { type: 'price', minMove: 0.01, precision: 2 },
  });
  return { volumes, midpoints, candles };
}

const lookBacks: Readonly<Record<Width, string>> = {
  '1m': '6h',
  '5m': '1d',
  '1h': '1w',
  '1d': 'max',
};

async function midpointsOf(token: string, width: Width) {
  const fidelity = widths[width] / 60;
  const query = { market: token, interval: lookBacks[width], fidelity };
  const { history } = await getJson<{ history: readonly { t: number; p: number }[] }>(
    '/prices-history',
    query,
  );
  const byTime = new Map(history.map(({ t, p }) => [t, p * 100]));
  return [...byTime]
    .sort(([one], [other]) => one - other)
    .map(([t, value]) => ({ time: t as UTCTimestamp, value }));
}

/** Colours of the page, now and when the reader changes between light and dark. */
function followColors(chart: IChartApi): () => void {
  const paint = (): void => {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
    const [up, down, line] = [color('up'), color('down'), color('line')];
    chart.applyOptions({
      layout: { textColor: color('quiet') },
      grid: { vertLines: { color: line }, horzLines: { color: line } },
      timeScale: { borderColor: line },
      rightPriceScale: { borderColor: line },
    });
    const [volumes, midpoints, candles] = chart.panes()[0]?.getSeries() ?? [];
    volumes?.applyOptions({ color: color('volume') });
    midpoints?.applyOptions({ color: color('accent') });
    candles?.applyOptions({ upColor: up, downColor: down, wickUpColor: up, wickDownColor: down });
  };
  paint();
  const media = matchMedia('(prefers-color-scheme: dark)');
  media.addEventListener('change', paint);
  return () => media.removeEventListener('change', paint);
}
