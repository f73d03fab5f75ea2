import { isoTime } from '@pm/domain/markets/wire-market';
import { QueryReader } from '@pm/domain/reading/query-reader';
import { refusedRead } from '@pm/domain/reading/refusal';
import type { Profiles } from '@pm/domain/social/profiles';
import type { HttpHandler } from '@pm/kit/http';
import { parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import { readRefusalText } from '@pm/schemas/read-refusals';
import { readRoute } from '../http/read-route.io.ts';
import type { CommentParts } from './comment-responses.io.ts';

/** GET /public-profile?address=: how a wallet is shown; any wallet has at least a pseudonym (conventions.md 7.2). */
export function publicProfileRoute({ profiles }: Pick<CommentParts, 'profiles'>): HttpHandler {
  const route = { method: 'GET', path: '/public-profile', family: 'gamma' } as const;
  return readRoute(route, ({ query }) => {
    const read = new QueryReader(query, 'gamma');
    const text = read.text('address') ?? read.missing('address');
    const wallet = text === null ? null : parseWalletAddress(text);
    if (wallet === null) read.fail(readRefusalText('invalid_address', { name: 'address' }));
    return read.refusal ?? (wallet === null ? [] : profileAnswer(profiles, wallet));
  });
}

/** GET /profiles/user_address/:user_address: the same by path. */
export function profileByAddressRoute({ profiles }: Pick<CommentParts, 'profiles'>): HttpHandler {
  const path = '/profiles/user_address/:user_address';
  const route = { method: 'GET', path, family: 'gamma' } as const;
  return readRoute(route, ({ params }) => {
    const wallet = parseWalletAddress(params['user_address'] ?? '');
    if (wallet === null) return refusedRead('invalid_address', { name: 'user_address' });
    return profileAnswer(profiles, wallet);
  });
}

function profileAnswer(profiles: Profiles, wallet: WalletAddress): object {
  const createdAtMs = profiles.createdAtMs(wallet);
  const xUsername = profiles.xName(wallet);
  return {
    ...(createdAtMs === null ? {} : { createdAt: isoTime(createdAtMs) }),
    ...profiles.of(wallet),
    users: [{ id: wallet, creator: false, mod: false }],
    ...(xUsername === null ? {} : { xUsername }),
    verifiedBadge: false,
  };
}
