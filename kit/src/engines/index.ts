export { kafkaProbe, redisProbe, registryProbe } from './probes.io.ts';
