export { AvroError, ByteWriter, putLong, putWords } from './avro/bytes.ts';
export { canonicalForm } from './avro/canonical-form.ts';
export { type Codec, compileCodec, compileResolver } from './avro/codec.ts';
export { type AvroSchema, type Infer, toAvroJson } from './avro/schema.ts';
export * from './decimal.ts';
export * from './error-words.ts';
export * from './held-entries.ts';
export * from './http/account.ts';
export * from './http/approvals.ts';
export * from './http/batches.ts';
export * from './http/book-hash.ts';
export * from './http/catalog.ts';
export * from './http/catalog-lists.ts';
export * from './http/comments.ts';
export { type LogPosition, sample as exampleValues } from './http/forms.ts';
export * from './http/keys.ts';
export * from './http/notifications.ts';
export * from './http/operator.ts';
export * from './http/operator-catalog.ts';
export * from './http/operator-responses.ts';
export type { OrderFinding } from './http/order-finding.ts';
export * from './http/private-reading.ts';
export * from './http/rate-limits.ts';
export * from './http/reading.ts';
export * from './http/report-choices.ts';
export * from './http/reports.ts';
export * from './http/sessions.ts';
export * from './http/trading.ts';
export * from './ids.ts';
export * from './money.ts';
export { notificationId } from './notification-id.ts';
export { type OpenApi, openApiDocument, operatorApiDocument } from './openapi/document.ts';
export { exampleOf } from './openapi/example-of.ts';
export * from './operators.ts';
export * from './rate-limits.ts';
export * from './read-refusals.ts';
export * from './redis-cache.ts';
export * from './redis-keys.ts';
export { refusalCauses } from './refusal-causes.ts';
export * from './refusal-codes.ts';
export * from './refusals.ts';
export * from './routes/index.ts';
export * from './signing.ts';
export { type AsyncApi, asyncApiDocument } from './streams/asyncapi.ts';
export * from './streams/channels.ts';
export * from './streams/client-frames.ts';
export * from './streams/codes.ts';
export { streamDescription } from './streams/description.ts';
export {
  FamilyFilters,
  type FamilyLiveFrame,
  type FamilyMarketFrame,
  type FamilyUserFrame,
  familyFrames,
  type LiveTopic,
  liveTopics,
} from './streams/family-frames.ts';
export { type FamilyMessage, familyMessages } from './streams/family-messages.ts';
export * from './streams/limits.ts';
export {
  type MessagePosition,
  type PublicMessage,
  publicMessages,
} from './streams/messages.ts';
export { type OwnMessage, ownMessages } from './streams/own-messages.ts';
export * from './streams/server-frames.ts';
export {
  type Column,
  changeableSettings,
  columnNames,
  createTableSql,
  isNullable,
  type Table,
  tableSettings,
  valueType,
} from './tables/create-table.ts';
export * from './tables/leaderboard-tables.ts';
export * from './tables/past-book.ts';
export { rebuildHold } from './tables/rebuild-hold.ts';
export { shownSides, tables } from './tables/tables.ts';
export { type WorkedQuery, type WorkedQueryName, workedQueries } from './tables/worked-queries.ts';
export * from './time.ts';
export * from './topics/accounts.ts';
export * from './topics/agents.ts';
export type { Approval } from './topics/approvals.ts';
export * from './topics/audit.ts';
export * from './topics/catalog.ts';
export * from './topics/comments.ts';
export * from './topics/executions.ts';
export * from './topics/log-rules.ts';
export type { NotificationMark } from './topics/notifications.ts';
export * from './topics/orders.ts';
export * from './topics/profiles.ts';
export * from './topics/service-keys.ts';
export * from './topics/sessions.ts';
export * from './topics/topics.ts';
export type {
  AgentStatus,
  CancelReason,
  KeyKind,
  KeyRole,
  MarketMode,
  MatchType,
  SelfTrade,
  Side,
  TimeInForce,
  WalletStatusKind,
} from './topics/types.ts';
export * from './trade-id.ts';
