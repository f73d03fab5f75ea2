import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { getJson } from '../api.ts';
import { ago, clock, whole } from '../format.ts';
import { orderTimings } from '../trade/timings.ts';
import {
  flowOf,
  lagOf,
  linePath,
  type PipelineSample,
  type PipelineStatus,
  type Rates,
  ratesBetween,
} from './pipeline.ts';

const roundMs = 1_000;
const ratesShown = 120;
const stale = 'stale';

const samples = signal<readonly PipelineSample[]>([]);
const rates = signal<readonly (Rates | null)[]>([]);
/** The newest status that was read: it stays while a service is away. */
const lastStatus = signal<{ readonly status: PipelineStatus; readonly atMs: number } | null>(null);

async function readSample(): Promise<void> {
  const startedAt = performance.now();
  const [status, ingress] = await Promise.allSettled([
    getJson<PipelineStatus>('/status'),
    getJson<string>('/ok').then(() => performance.now() - startedAt),
  ]);
  const sample: PipelineSample = {
    atMs: Date.now(),
    status: status.status === 'fulfilled' ? status.value : null,
    ingressMs: ingress.status === 'fulfilled' ? ingress.value : null,
  };
  const before = samples.value.at(-1);
  samples.value = [...samples.value.slice(-4), sample];
  if (sample.status !== null) lastStatus.value = { status: sample.status, atMs: sample.atMs };
  if (before === undefined) return;
  rates.value = [...rates.value.slice(1 - ratesShown), ratesBetween(before, sample)];
}

/** The pipeline as it runs. It goes on showing what it knows while services restart. */
export function PipelinePage() {
  useEffect(() => {
    let isOver = false;
    const round = async (): Promise<void> => {
      await readSample();
      if (!isOver) setTimeout(() => void round(), roundMs);
    };
    void round();
    return () => {
      isOver = true;
    };
  }, []);
  const now = samples.value.at(-1);
  const status = lastStatus.value?.status ?? null;
  const isStale = now !== undefined && now.status === null;
  return (
    <main class="page">
      <h1>Pipeline</h1>
      <Flow sample={now ?? null} status={status} />
      {isStale && (
        <p class="warning" role="status">
          query-api does not answer
          {lastStatus.value === null
            ? '.'
            : `; shown is the state of ${clock(lastStatus.value.atMs)}.`}
        </p>
      )}
      <div class="two">
        <RateView name="Orders a second" pick="orders" />
        <RateView name="Fills a second" pick="fills" />
      </div>
      {status !== null && <Partitions status={status} isStale={isStale} />}
      <div class="two">
        {status !== null && <Projections status={status} isStale={isStale} />}
        <Timings />
      </div>
    </main>
  );
}

/** The picture of the parts, left to right. */
function Flow(props: {
  readonly sample: PipelineSample | null;
  readonly status: PipelineStatus | null;
}) {
  const parts = flowOf(props.sample, props.status);
  return (
    <ol class="flow" data-testid="flow">
      {parts.map(({ name, text, state }) => (
        <li key={name} class={state}>
          <strong>{name}</strong>
          <span>{text}</span>
        </li>
      ))}
    </ol>
  );
}

function RateView({ name, pick }: { readonly name: string; readonly pick: 'orders' | 'fills' }) {
  const values = rates.value.map((one) => one?.[pick] ?? null);
  const recent = values.slice(-5).filter((value) => value !== null);
  const mean =
    recent.length === 0 ? null : recent.reduce((sum, one) => sum + one, 0) / recent.length;
  return (
    <section class="panel rate">
      <header>
        <h2>{name}</h2>
        <strong data-testid={`rate-${pick}`}>{mean === null ? '–' : mean.toFixed(1)}</strong>
      </header>
      <svg
        viewBox="0 0 100 30"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name}, two minutes`}
      >
        <path d={linePath(values, ratesShown)} />
      </svg>
    </section>
  );
}

function Partitions({
  status,
  isStale,
}: {
  readonly status: PipelineStatus;
  readonly isStale: boolean;
}) {
  return (
    <section class={`panel scroll ${isStale ? stale : ''}`}>
      <table data-testid="partitions">
        <thead>
          <tr>
            <th>Partition</th>
            <th>State</th>
            <th>Owner</th>
            <th class="number">Last offset</th>
            <th class="number">Lag</th>
            <th class="number">Clock</th>
            <th class="number">Orders</th>
            <th class="number">Fills</th>
          </tr>
        </thead>
        <tbody>
          {status.partitions.map((one) => (
            <tr key={one.partition}>
              <td>{one.partition}</td>
              <td>
                <span class={`dot ${one.state}`} /> {one.state}
              </td>
              <td>{one.owner ?? '–'}</td>
              <td class="number">{whole(one.lastOffset)}</td>
              <td class="number">{one.lag === null ? '–' : whole(one.lag)}</td>
              <td class="number quiet">
                {one.clock === null ? '–' : clock(Date.parse(one.clock))}
              </td>
              <td class="number">{whole(one.orders)}</td>
              <td class="number">{whole(one.fills)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Projections({
  status,
  isStale,
}: {
  readonly status: PipelineStatus;
  readonly isStale: boolean;
}) {
  return (
    <section class={`panel ${isStale ? stale : ''}`}>
      <header>
        <h2>Projections</h2>
      </header>
      <table>
        <thead>
          <tr>
            <th>Projection</th>
            <th class="number">Lag, records</th>
            <th class="number">Complete until</th>
          </tr>
        </thead>
        <tbody>
          {status.projections.map((one) => (
            <tr key={one.projection}>
              <td>
                <span class={`dot ${one.known ? 'live' : 'unowned'}`} /> {one.projection}
              </td>
              <td class="number">{one.known ? whole(lagOf(one)) : '–'}</td>
              <td class="number quiet">
                {one.completeThrough === null
                  ? '–'
                  : `${ago(Date.parse(one.completeThrough), Date.now())} ago`.replace(
                      'now ago',
                      'now',
                    )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Stages of the newest own orders, as bars. */
function Timings() {
  const [newest] = orderTimings.value;
  return (
    <section class="panel">
      <header>
        <h2>Stages of an order</h2>
        <span class="quiet">
          {newest === undefined ? '' : `${newest.wholeMs.toFixed(1)} ms round trip`}
        </span>
      </header>
      {newest === undefined && <p class="quiet pad">Place an order to see where its time goes.</p>}
      {newest?.stages.map(([name, ms]) => (
        <div class="stage" key={name}>
          <span>{name}</span>
          <span class="track">
            <span style={{ transform: `scaleX(${Math.min(1, ms / newest.wholeMs)})` }} />
          </span>
          <span class="number">{ms.toFixed(2)} ms</span>
        </div>
      ))}
    </section>
  );
}
