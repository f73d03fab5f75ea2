import { topics } from '@pm/schemas/log/topics';

/** The topics that the operator's process reads or writes. Of `credentials` it learns whose addresses are proven. */
export const operatorTopics = {
  orders: topics.orders,
  executions: topics.executions,
  transfers: topics.transfers,
  routing: topics.routing,
  catalog: topics.catalog,
  credentials: topics.credentials,
  walletStatus: topics.walletStatus,
  withdrawalFreezes: topics.withdrawalFreezes,
  walletOwners: topics.walletOwners,
  approvals: topics.approvals,
  audit: topics.audit,
  comments: topics.comments,
} as const;
