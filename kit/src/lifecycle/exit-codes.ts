/**
 * Exit codes of services: stopped by request, a fault, an invalid configuration, and an engine that was away, after
 * which the process is to be started again, however often (75 is EX_TEMPFAIL of sysexits.h).
 */
export const exitCodes = { asked: 0, fault: 1, invalidConfig: 2, engineAway: 75 } as const;
