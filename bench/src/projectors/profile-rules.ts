import type { ProfileRules } from '../report/profile.ts';

/** The parts of a projector's work. */
export const projectorRules: ProfileRules = [
  ['decode', /registry\/record-codec\.js|schemas\/dist\/avro/],
  ['fold', /projectors\/dist\/core\//],
  ['rows to bytes', /kit\/dist\/clickhouse\/statements\.js/],
  ['insert over HTTP', /clickhouse|node:_?http|node:net|node:internal\/stream/],
  ['kafkajs', /kafkajs|kit\/dist\/kafka\//],
  ['metrics', /prom-client|kit\/dist\/metrics|projectors\/dist\/metrics/],
  ['projector loops', /projectors\/dist\/io\//],
];
