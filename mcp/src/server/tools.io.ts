import { accountTools } from '../accounts/account-tools.io.ts';
import { marketTools } from '../markets/market-tools.io.ts';
import { priceTools } from '../prices/price-tools.io.ts';
import { tradingTools } from '../trading/trading-tools.io.ts';
import type { Tool } from './tool.io.ts';

/** Every tool, in the order of documents. */
export const tools: readonly Tool[] = [
  ...marketTools,
  ...priceTools,
  ...accountTools,
  ...tradingTools,
];

/** The table of tools as Markdown, for docs/trading/agents.md. */
export function toolsTable(): string {
  const lines = tools.map(({ declaration: { name, input, annotations, description } }) => {
    const required = input.required ?? [];
    const inputs = Object.keys(input.properties).map((key) =>
      required.includes(key) ? `**\`${key}\`**` : `\`${key}\``,
    );
    const effect = annotations.readOnlyHint ? 'reads' : 'changes';
    return `| \`${name}\` | ${effect} | ${inputs.join(', ') || 'none'} | ${description} |`;
  });
  return [
    '| tool | effect | inputs (**required**) | about |',
    '| --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}
