export {
  openRegistry,
  type RecordReader,
  type Registry,
  type RegistryOptions,
  topicName,
} from './open.io.ts';
export { type FetchSchema, openRecordCodec, type RecordCodec } from './record-codec.io.ts';
