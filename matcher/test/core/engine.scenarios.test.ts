import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScenarioRunner } from './scenario.ts';

const folder = join(__dirname, 'scenarios');

/**
 * Each scenario is a list of lines: on the left of the bar a record, on the right its expected result. The language is
 * explained in scenario.ts.
 */
describe('a scenario', () => {
  it.each(readdirSync(folder))('%s gives the expected results', (file) => {
    const runner = new ScenarioRunner();
    const lines = readFileSync(join(folder, file), 'utf8').split('\n');
    const expected = lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
    const tidy = (line: string): string => line.replace(/\s+/g, ' ').trim();
    const shown = expected.map((line) => {
      const [left = ''] = line.split('|');
      return tidy(`${left} | ${runner.run(tidy(left))}`);
    });
    expect(shown).toEqual(expected.map(tidy));
    runner.engine.assertInvariants();
  });
});
