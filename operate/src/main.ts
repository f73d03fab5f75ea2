/** The commands of an operator as one program, `tools` of the image: `tools COMMAND ARGUMENTS`. */
const commands: ReadonlyMap<string, () => Promise<unknown>> = new Map([
  ['access', () => import('./commands/access.ts')],
  ['audit', () => import('./commands/audit.ts')],
  ['backup', () => import('./commands/backup.ts')],
  ['catalog', () => import('@pm/deploy/commands/catalog')],
  ['export', () => import('./commands/export.ts')],
  ['keys', () => import('./commands/keys.ts')],
  ['operators', () => import('./commands/operators.ts')],
  ['preflight', () => import('./commands/preflight.ts')],
  ['rebuild', () => import('./commands/rebuild.ts')],
  ['repair', () => import('./commands/repair.ts')],
  ['restore', () => import('./commands/restore.ts')],
  ['wallets', () => import('@pm/deploy/commands/wallets')],
]);

const [node = '', file = '', name = '--help', ...args] = process.argv;
const load = commands.get(name);
if (load === undefined) {
  const known = `commands: ${[...commands.keys()].join(', ')}; each has --help`;
  if (name !== '--help') {
    console.error(`no command ${name}; ${known}`);
    process.exit(2);
  }
  console.log(known);
} else {
  // Each reads its arguments as if it was the program.
  process.argv = [node, file, ...args];
  await load();
}
