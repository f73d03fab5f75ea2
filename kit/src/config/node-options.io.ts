/** Options of Node that this process was started with: those of NODE_OPTIONS, then those of its command line. */
export function nodeOptions(): readonly string[] {
  const shared = process.env['NODE_OPTIONS'] ?? '';
  return [...shared.split(' '), ...process.execArgv];
}
