import { type HttpHandler, parseListParam, refuse } from '@pm/kit/http';
import { notificationsMax } from '@pm/schemas/http/notifications';
import { authenticate } from '../http/authentication.io.ts';
import type { AccountServices } from './account-services.io.ts';
import { refuseWithoutMoney } from './entry-quota.io.ts';

/**
 * DELETE /notifications: the caller does not want to see these again; ids that are none are refused (conventions.md
 * 4.1).
 */
export function deleteNotificationsRoute(
  services: Pick<AccountServices, 'authentication' | 'notificationMarks'>,
): HttpHandler {
  return {
    method: 'DELETE',
    path: '/notifications',
    add(app, { url }) {
      app.delete(url, async (request, reply) => {
        const caller = authenticate(request, reply, services.authentication);
        if (caller === null) return reply;
        const { ids: given } = request.query as { ids?: string | readonly string[] };
        const texts = parseListParam(given, { maxItems: notificationsMax, maxChars: 16 }) ?? [];
        if (texts.length === 0 || !texts.every((one) => idText.test(one))) {
          return refuse(reply, 'invalid_request', { detail: idsAllowed });
        }
        const isDone = await services.notificationMarks.delete(caller.address, texts.map(Number));
        return isDone ? { deleted: texts } : refuseWithoutMoney(reply);
      });
    },
  };
}

const idText = /^(0|[1-9]\d{0,14})$/;
const idsAllowed = `ids are 1 to ${notificationsMax} whole numbers between commas`;
