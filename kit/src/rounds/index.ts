export { type Rounds, repeatCheck, runRounds } from './rounds.io.ts';
