import { streamChannels } from '@pm/schemas/streams/channels';
import { clientFrames } from '@pm/schemas/streams/client-frames';
import { streamCloses, streamErrors } from '@pm/schemas/streams/codes';
import { streamLimitMeanings, streamLimits } from '@pm/schemas/streams/limits';
import { publicMessages } from '@pm/schemas/streams/messages';
import { ownMessages } from '@pm/schemas/streams/own-messages';
import { serverFrames } from '@pm/schemas/streams/server-frames';

/** The generated tables of `docs/trading/streams.md` by the names of their marks. */
const tables = {
  channels: () => {
    const rows = Object.entries(streamChannels).map(([name, { key, message, snapshot }]) =>
      row(`\`${name}\``, key, message, snapshot),
    );
    return [row('channel', 'key', 'one message', 'begins with'), line(4), ...rows];
  },
  frames: () => [
    row('sent by', 'frame', 'meaning'),
    line(3),
    ...Object.entries(clientFrames).map(([op, frame]) =>
      row('client', `\`op\`: \`${op}\``, descriptionOf(frame)),
    ),
    ...Object.entries(serverFrames).map(([type, frame]) =>
      row('server', `\`type\`: \`${type}\``, descriptionOf(frame)),
    ),
  ],
  messages: () => [
    row('message', 'fields', 'meaning'),
    line(3),
    ...Object.entries({ ...publicMessages, ...ownMessages }).map(([name, schema]) => {
      const fields = Object.keys(schema.properties).map((field) => `\`${field}\``);
      return row(`\`${name}\``, fields.join(', '), descriptionOf(schema));
    }),
  ],
  limits: () => [
    row('limit', 'value', 'counts'),
    line(3),
    ...Object.entries(streamLimits).map(([name, value]) =>
      row(`\`${name}\``, String(value), streamLimitMeanings[name as keyof typeof streamLimits]),
    ),
  ],
  closes: () => [
    row('code', 'reason', 'can be resumed'),
    line(3),
    ...Object.values(streamCloses).map(({ code, reason, isResumable }) =>
      row(String(code), reason, isResumable ? 'yes' : 'no'),
    ),
  ],
  errors: () => [
    row('code', 'meaning', 'the same frame may succeed later'),
    line(3),
    ...Object.entries(streamErrors).map(([code, { message, isRetryable }]) =>
      row(`\`${code}\``, message, isRetryable ? 'yes' : 'no'),
    ),
  ],
} as const;

/** The text with its tables renewed. Throws a `RangeError` when the marks of one are missing. */
export function withStreamsTables(text: string): string {
  let renewed = text;
  for (const [name, table] of Object.entries(tables)) {
    const begin = `<!-- ${name}:begin (npm run docs) -->`;
    const end = `<!-- ${name}:end -->`;
    const [from, to] = [renewed.indexOf(begin), renewed.indexOf(end)];
    if (from < 0 || to < from) throw new RangeError(`${begin} and ${end} mark the table`);
    const before = renewed.slice(0, from + begin.length);
    renewed = `${before}\n\n${table().join('\n')}\n\n${renewed.slice(to)}`;
  }
  return renewed;
}

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const line = (columns: number): string => row(...Array.from({ length: columns }, () => '---'));

function descriptionOf(schema: object): string {
  return 'description' in schema ? String(schema.description) : '';
}
