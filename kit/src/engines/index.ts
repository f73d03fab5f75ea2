export { kafkaProbe, redisProbe } from './probes.io.ts';
