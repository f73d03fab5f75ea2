import type { ProfileRules } from '../report/profile.ts';

/** The parts of a matcher's work. */
export const matcherRules: ProfileRules = [
  ['match', /matcher\/dist\/core\//],
  ['verify', /signoff\/records\.js/, /^verifySealed$/],
  ['hash', /signoff\/records\.js/, /^chainOf$/],
  ['decode', /registry\/record-codec\.js/, /^decode$/],
  ['encode', /registry\/record-codec\.js/, /^encode$/],
  ['metrics', /prom-client|matcher\/dist\/metrics|kit\/dist\/metrics/],
  [
    'kafkajs send',
    /kafkajs\/src\/producer|protocol\/requests\/produce|recordBatch\/v0\/index|idempotent-session|send-queue|kafka\/producer\.js/,
  ],
  [
    'kafkajs fetch',
    /requests\/fetch|protocol\/recordBatch\/(?!crc32C)|protocol\/message|fetch-loops|fetch-wire|partition-lane|topic-reader/,
  ],
  ['kafkajs connection', /kafkajs\/src\/(?!protocol\/recordBatch\/crc32C|utils)/],
  ['matcher loops', /matcher\/dist\/io\//],
];
