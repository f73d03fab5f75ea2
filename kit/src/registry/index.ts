export { fingerprintOf } from './fingerprint.ts';
export { openRegistry, type Registry, topicName } from './open.io.ts';
export { readValue } from './read-value.io.ts';
export { openRecordCodec, type RecordCodec, type RecordReader } from './record-codec.io.ts';
export { ownReader, Schemas } from './schemas.io.ts';
export { surveyRegistry } from './survey.io.ts';
