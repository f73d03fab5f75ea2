import { whole } from '../format.ts';

/** A partition of GET /status. */
export interface PartitionStatus {
  readonly partition: number;
  readonly owner: string | null;
  readonly state: 'live' | 'restoring' | 'unowned';
  readonly lastOffset: number;
  readonly applied: number | null;
  readonly lag: number | null;
  readonly clock: string | null;
  readonly orders: number;
  readonly fills: number;
}

export interface ProjectionStatus {
  readonly projection: string;
  readonly known: boolean;
  readonly completeThrough: string | null;
  readonly partitions: readonly { readonly lag: number }[];
}

export interface PipelineStatus {
  readonly projections: readonly ProjectionStatus[];
  readonly partitions: readonly PartitionStatus[];
  /** The instances of the stream service; one that does not answer does not follow. */
  readonly streams: readonly { readonly follows: boolean }[];
}

/** Result of one round of reads; null where a service did not respond. */
export interface PipelineSample {
  readonly atMs: number;
  readonly status: PipelineStatus | null;
  readonly ingressMs: number | null;
}

/** Orders and fills a second between two samples; null when they cannot be compared. */
export interface Rates {
  readonly orders: number;
  readonly fills: number;
}

/** A process that restarted counts from zero again: that interval has no rate. */
export function ratesBetween(before: PipelineSample, now: PipelineSample): Rates | null {
  if (before.status === null || now.status === null) return null;
  const seconds = (now.atMs - before.atMs) / 1000;
  if (seconds <= 0) return null;
  const sum = (sample: PipelineStatus, name: 'orders' | 'fills') =>
    sample.partitions.reduce((total, one) => total + one[name], 0);
  const orders = sum(now.status, 'orders') - sum(before.status, 'orders');
  const fills = sum(now.status, 'fills') - sum(before.status, 'fills');
  return orders < 0 || fills < 0 ? null : { orders: orders / seconds, fills: fills / seconds };
}

/** Points of a line in a box of 100 by 30, oldest first; gaps where a rate is missing begin a new part. */
export function linePath(values: readonly (number | null)[], count: number): string {
  const most = Math.max(1, ...values.map((value) => value ?? 0));
  const step = 100 / Math.max(1, count - 1);
  const start = count - values.length;
  let isDown = false;
  return values
    .map((value, index) => {
      if (value === null) {
        isDown = false;
        return '';
      }
      const letter = isDown ? 'L' : 'M';
      isDown = true;
      return `${letter}${((start + index) * step).toFixed(1)} ${(29 - (value / most) * 28).toFixed(1)}`;
    })
    .join('');
}

/** How far a projection is: records it lacks in all partitions. */
export function lagOf({ partitions }: ProjectionStatus): number {
  return partitions.reduce((sum, { lag }) => sum + lag, 0);
}

/** A part of the picture. `wait`: its state is not known at the moment. */
export interface FlowPart {
  readonly name: string;
  readonly text: string;
  readonly state: 'good' | 'bad' | 'wait';
}

const nothingRead: PipelineStatus = { partitions: [], projections: [], streams: [] };

/** The parts of the pipeline from left to right; `status` is the newest that was read. */
export function flowOf(
  sample: PipelineSample | null,
  status: PipelineStatus | null,
): readonly FlowPart[] {
  const { partitions, projections, streams } = status ?? nothingRead;
  const isRead = sample !== null && sample.status !== null;
  const live = partitions.filter(({ state }) => state === 'live').length;
  const following = streams.filter(({ follows }) => follows).length;
  const known = projections.filter((one) => one.known).length;
  const total = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);
  const orders = total(partitions.map(({ lastOffset }) => lastOffset + 1));
  const waiting = total(partitions.map(({ lag }) => lag ?? 0));
  const stateOf = (isGood: boolean) => (isRead ? (isGood ? 'good' : 'bad') : 'wait');
  const ingressMs = sample?.ingressMs ?? null;
  return [
    ingressMs === null
      ? { name: 'ingress', text: 'does not answer', state: 'bad' }
      : { name: 'ingress', text: `${ingressMs.toFixed(0)} ms`, state: 'good' },
    { name: 'orders', text: `${whole(orders)} records`, state: stateOf(true) },
    {
      name: 'matcher',
      text: `${live} of ${partitions.length} live`,
      state: stateOf(live === partitions.length),
    },
    { name: 'executions', text: `${whole(waiting)} waiting`, state: stateOf(true) },
    {
      name: 'projectors',
      text: `${known} of ${projections.length} known`,
      state: stateOf(known === projections.length),
    },
    isRead
      ? { name: 'query-api', text: 'answers', state: 'good' }
      : { name: 'query-api', text: 'does not answer', state: 'bad' },
    streams.length === 0
      ? { name: 'streams', text: 'not listed', state: 'wait' }
      : {
          name: 'streams',
          text: `${following} of ${streams.length} follow`,
          state: stateOf(following === streams.length),
        },
  ];
}
