import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScenarioRunner } from './scenario.ts';

const folder = join(__dirname, 'scenarios');

/**
 * Each picture is a story told line by line: on the left what happens, behind the bar what must come of it.
 * The language is explained in scenario.ts.
 */
describe('a picture', () => {
  it.each(readdirSync(folder))('%s is true', (file) => {
    const runner = new ScenarioRunner();
    const lines = readFileSync(join(folder, file), 'utf8').split('\n');
    const told = lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
    const tidy = (line: string): string => line.replace(/\s+/g, ' ').trim();
    const shown = told.map((line) => {
      const [left = ''] = line.split('|');
      return tidy(`${left} | ${runner.run(tidy(left))}`);
    });
    expect(shown).toEqual(told.map(tidy));
    runner.engine.assertInvariants();
  });
});
