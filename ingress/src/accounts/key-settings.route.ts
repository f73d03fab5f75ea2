import { type HttpHandler, refuse } from '@pm/kit/http';
import { type KeySettings, selfTradeNames } from '@pm/schemas/http/keys';
import type { SelfTrade } from '@pm/schemas/log/types';
import {
  authenticate,
  authenticateReader,
  refuseUnproven,
  signedFacts,
} from '../http/authentication.io.ts';
import type { AccountServices } from './account-services.io.ts';

type SettingsServices = Pick<AccountServices, 'authentication' | 'keys'>;

const path = '/auth/api-key/settings';

/** GET /auth/api-key/settings: those of the calling key (conventions.md 2.5). */
export function readSettingsRoute(services: SettingsServices): HttpHandler {
  return {
    method: 'GET',
    path,
    add(app, { url }) {
      app.get(url, async (request, reply) => {
        const holder = services.authentication.verify(signedFacts(request));
        if (holder !== null) return settingsOf(holder.selfTrade);
        refuseUnproven(request, reply, services.authentication);
        return reply;
      });
    },
  };
}

/** POST /auth/api-key/settings: changes those of the calling key, for orders that come after the response. */
export function writeSettingsRoute(
  services: SettingsServices,
  isSettings: (value: unknown) => value is KeySettings,
): HttpHandler {
  return {
    method: 'POST',
    path,
    add(app, { url }) {
      app.post(url, async (request, reply) => {
        const caller = authenticate(request, reply, services.authentication);
        if (caller === null) return reply;
        const { body } = request;
        if (!isSettings(body)) return refuse(reply, 'invalid_request', { detail: allowed });
        const selfTrade = selfTradeNames[body.self_trade];
        const { address, apiKey } = caller;
        const isDone = await services.keys.setSelfTrade(address, apiKey, selfTrade);
        return isDone ? settingsOf(selfTrade) : refuse(reply, 'invalid_l2');
      });
    },
  };
}

const allowed = `self_trade is one of ${Object.keys(selfTradeNames).join(', ')}`;

function settingsOf(selfTrade: SelfTrade) {
  return { self_trade: selfTrade.toLowerCase() };
}

/** GET /auth/ban-status/closed-only: whether the wallet may only sell, in both spellings (conventions.md 2.6). */
export function closedOnlyRoute(services: Pick<AccountServices, 'authentication'>): HttpHandler {
  return {
    method: 'GET',
    path: '/auth/ban-status/closed-only',
    add(app, { url }) {
      app.get(url, async (request, reply) => {
        const reader = authenticateReader(request, reply, services.authentication);
        if (reader === null) return reply;
        const closedOnly = services.authentication.walletStatus.of(reader.wallet) !== 'NORMAL';
        return { closedOnly, closed_only: closedOnly };
      });
    },
  };
}
