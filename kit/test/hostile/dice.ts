import { Random } from '../../src/random/index.ts';

/** Chance out of a seed: a failing run can be run again. */
export class Dice extends Random {
  isOneIn(count: number): boolean {
    return this.below(count) === 0;
  }
}
