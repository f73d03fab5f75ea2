import { topics } from '@pm/schemas/log/topics';

/** The topics that ingress reads or writes. Operators write catalog, status and owners of wallets, and freezes. */
export const ingressTopics = {
  orders: topics.orders,
  executions: topics.executions,
  transfers: topics.transfers,
  catalog: topics.catalog,
  credentials: topics.credentials,
  readKeys: topics.readKeys,
  agents: topics.agents,
  walletStatus: topics.walletStatus,
  withdrawalFreezes: topics.withdrawalFreezes,
  walletOwners: topics.walletOwners,
  notificationMarks: topics.notificationMarks,
  sessions: topics.sessions,
  comments: topics.comments,
  profiles: topics.profiles,
} as const;
