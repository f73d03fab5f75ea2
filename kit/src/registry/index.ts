export {
  openRegistry,
  type RecordReader,
  type Registry,
  topicName,
} from './open.io.ts';
export { openRecordCodec, type RecordCodec } from './record-codec.io.ts';
