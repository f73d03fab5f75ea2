import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { titleOf } from '../../src/drill/accident.ts';
import { accidents } from '../../src/drill/accidents/all.ts';
import { cellsOf } from '../../src/drill/results.ts';

const page = readFileSync(join(repositoryRoot, 'docs/operating/recovery.md'), 'utf8');
const [, part = ''] = /<!-- drill -->\n([\s\S]*)<!-- \/drill -->/.exec(page) ?? [];

/** Rows of the table, without times where a run of the drill has added them. */
const rows = part
  .trim()
  .split('\n')
  .slice(2)
  .map((line) => line.split(' | ').slice(0, 4).join(' | ').replace(/ \|$/, ''));

test('the table of accidents has a row for each accident of the drill, with its words and its way back', () => {
  expect(rows).toEqual(accidents.map((one) => `| ${cellsOf(one).join(' | ')}`));
});

test('each accident has a title of its own', () => {
  expect(new Set(accidents.map(titleOf)).size).toBe(accidents.length);
});

test('an accident with a way back names it, and no other does', () => {
  for (const one of accidents) expect(one.wayBack === null).toBe(one.bringBack === undefined);
});
