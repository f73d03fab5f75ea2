export { type Log, type LogFacts, type LogLevel, logLevels, silentLog } from './log.ts';
export { openLog } from './open.io.ts';
