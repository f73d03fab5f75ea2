export { type Log, type LogFacts, type LogLevel, logLevels, openLog, silentLog } from './log.io.ts';
