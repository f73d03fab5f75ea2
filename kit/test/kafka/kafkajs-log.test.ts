import { logLevel } from 'kafkajs';
import { kafkajsLog } from '../../src/kafka/kafkajs-log.io.ts';
import type { Log, LogFacts } from '../../src/log/index.ts';

function recording() {
  const lines: { level: string; facts: LogFacts; message: string }[] = [];
  const at = (level: string) => (facts: LogFacts, message: string) => {
    lines.push({ level, facts, message });
  };
  const log: Log = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => log,
  };
  return { lines, write: kafkajsLog(log)() };
}

const entry = (level: number, message: string, more: Record<string, unknown> = {}) => ({
  namespace: 'Runner',
  level,
  label: '',
  log: { timestamp: '', logger: 'kafkajs', message, ...more },
});

test('keeps ids and numbers, drops everything else', () => {
  const { lines, write } = recording();
  write(
    entry(logLevel.ERROR, 'failed', {
      topic: 't',
      partition: 3,
      payload: { value: 'an order' },
      stack: 'a\nb',
      sasl: 'pw',
    }),
  );
  expect(lines).toEqual([
    { level: 'warn', facts: { namespace: 'Runner', topic: 't', partition: 3 }, message: 'failed' },
  ]);
});

test('information of kafkajs is debug here, its warnings about our own choices are dropped', () => {
  const { lines, write } = recording();
  write(entry(logLevel.INFO, 'joined'));
  write(
    entry(
      logLevel.WARN,
      'Limiting retries for the idempotent producer may invalidate EoS guarantees',
    ),
  );
  expect(lines.map(({ level, message }) => [level, message])).toEqual([['debug', 'joined']]);
});
