const everyRun = process.env['CI'] === undefined ? 100_000 : 1_000_000;

/**
 * Commands that naive twins run along with: a million where CI says so, else enough to see; as many as one likes by
 * name.
 */
export const commandsTotal = Number(process.env['PM_TEST_COMMANDS'] ?? everyRun);
