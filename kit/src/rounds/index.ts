export { repeatCheck, runRounds } from './rounds.io.ts';
