export { openRegistry, type Registry, type RegistryOptions, topicName } from './open.ts';
export { readValue } from './read-value.ts';
export {
  type FetchSchema,
  openRecordCodec,
  type RecordCodec,
  type RecordReader,
} from './record-codec.ts';
