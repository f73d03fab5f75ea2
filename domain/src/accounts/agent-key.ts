import { randomBytes } from 'node:crypto';
import type { Agent, AgentDirectory } from './agent-directory.ts';
import type { RawHeaders } from './auth-headers.ts';
import { hashOfKey } from './read-key-directory.ts';

const prefix = 'pro_';
/** 24 bytes are 32 base64url characters, so the whole key has the 36 of its published format: 192 bits (conventions.md 1.11). */
const keyBytes = 24;
const bearer = /^Bearer +(pro_[A-Za-z0-9_-]{32})$/i;

/** A fresh key, to be shown once. */
export function newAgentKey(): string {
  return prefix + randomBytes(keyBytes).toString('base64url');
}

/**
 * The agent whose key is sent as `Authorization: Bearer`, if it may act; null for anybody else: reads take those as anonymous
 * (conventions.md 1.11). Found by its hash, so that the time says nothing about keys that are nearly right.
 */
export function bearerAgent(headers: RawHeaders, agents: AgentDirectory): Agent | null {
  const { authorization } = headers;
  if (typeof authorization !== 'string') return null;
  const key = bearer.exec(authorization)?.[1];
  if (key === undefined) return null;
  const agent = agents.findByKey(hashOfKey(key));
  return agent?.status === 'ACTIVE' ? agent : null;
}
