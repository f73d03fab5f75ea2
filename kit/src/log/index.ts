export { type Log, type LogFacts, silentLog } from './log.ts';
export { openLog } from './open.io.ts';
