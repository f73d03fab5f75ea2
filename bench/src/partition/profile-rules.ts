import type { ProfileRules } from '../report/profile.ts';

/** The parts of a matcher's work. */
export const matcherRules: ProfileRules = [
  ['match', /matcher\/dist\/core\//],
  ['verify', /signoff\/(records\.js|verify-in-pool|keys\.js)/, /^(verify|sealOf|signedBytes)/],
  ['hash', /signoff\/records\.js/, /^chainOf$/],
  ['decode', /registry\/record-codec\.io\.js/, /^decode$/],
  ['encode', /registry\/record-codec\.io\.js/, /^encode$/],
  ['metrics', /prom-client|matcher\/dist\/metrics|kit\/dist\/metrics/],
  ['checksum', /kafka\/crc32c\.js|recordBatch\/crc32C/],
  [
    'send',
    /kafka\/(record-batch|produce-|leader-lanes|partition-batch|pending-call|send-queue|producer)|requests\/produce/,
  ],
  [
    'fetch',
    /requests\/fetch|protocol\/recordBatch\/|protocol\/message|fetch-loops|fetch-wire|partition-lane|topic-reader/,
  ],
  ['kafkajs connection', /kafkajs\/src\/(?!utils)/],
  ['matcher loops', /matcher\/dist\/partition\//],
];
