import { isTraceInShare, readTraceparent, traceparentOf } from '../../src/traces/traceparent.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test('a header of the form of W3C names the span of the caller, and whether it is recorded', () => {
  expect(readTraceparent(`00-${traceId}-${spanId}-01`)).toEqual({
    traceId,
    spanId,
    isSampled: true,
  });
  expect(readTraceparent(`00-${traceId}-${spanId}-02`)?.isSampled).toBe(false);
  expect(readTraceparent(`cc-${traceId}-${spanId}-01-what the future is like`)?.traceId).toBe(
    traceId,
  );
});

test.each([
  [undefined],
  [''],
  [['00']],
  [`00-${traceId}-${spanId}`],
  [`ff-${traceId}-${spanId}-01`],
  [`00-${traceId.toUpperCase()}-${spanId}-01`],
  [`00-${'0'.repeat(32)}-${spanId}-01`],
  [`00-${traceId}-${'0'.repeat(16)}-01`],
  [`00-${traceId}-${spanId}-01-more`],
  [`cc-${traceId}-${spanId}-01-${'x'.repeat(1_000)}`],
])('%p counts as no header', (header) => {
  expect(readTraceparent(header)).toBeNull();
});

test('what is written is read again', () => {
  expect(readTraceparent(traceparentOf({ traceId, spanId }))).toEqual({
    traceId,
    spanId,
    isSampled: true,
  });
});

test('the share of traces is decided by the last digits of their ids', () => {
  const ends = (digits: string) => `${'f'.repeat(24)}${digits}`;
  expect(isTraceInShare(ends('00000000'), 0)).toBe(false);
  expect(isTraceInShare(ends('ffffffff'), 1)).toBe(true);
  expect(isTraceInShare(ends('7fffffff'), 0.5)).toBe(true);
  expect(isTraceInShare(ends('80000000'), 0.5)).toBe(false);
});
