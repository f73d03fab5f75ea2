import type { HttpApp } from '@pm/kit/http';
import { CommentHide, OperatorCommentParams } from '@pm/schemas/http/operator-responses';
import { admitOperators } from './admission.io.ts';
import { addApprovalRoutes } from './approvals.route.ts';
import { addAuditRoute, auditRequests } from './audit.route.ts';
import { addCatalogRoutes } from './catalog.route.ts';
import { guardActions } from './guards.route.ts';
import { addMarketResolveRoute } from './market-resolve.route.ts';
import {
  addMarketModeRoute,
  addSetMarketRoute,
  addTradingModeRoute,
} from './market-rules.route.ts';
import { addDepositsRoute, addWithdrawalsRoute } from './money.route.ts';
import type { OperatorServices } from './operator-services.io.ts';
import {
  addWalletOwnerRoutes,
  addWalletStatusRoutes,
  addWithdrawalFreezeRoutes,
} from './wallets.route.ts';

/**
 * Adds the operator's routes; every one wants the token of an operator with its role (`admitOperators`). Whatever is no
 * read is put on the audit trail (`auditRequests`), and goes to a second person where it needs one (`guardActions`).
 */
export function addOperatorRoutes(app: HttpApp, services: OperatorServices): void {
  admitOperators(app, services);
  auditRequests(app, services);
  guardActions(app, services);
  addApprovalRoutes(app, services);
  addAuditRoute(app, services);
  addCatalogRoutes(app, services.catalog);
  addCommentHideRoute(app, services);
  addDepositsRoute(app, services.money);
  addMarketModeRoute(app, services.catalog);
  addMarketResolveRoute(app, services);
  addSetMarketRoute(app, services.catalog);
  addTradingModeRoute(app, services.catalog);
  addWithdrawalsRoute(app, services.money);
  addWithdrawalFreezeRoutes(app, services.wallets);
  addWalletOwnerRoutes(app, services.wallets);
  addWalletStatusRoutes(app, services.wallets);
  app.get('/operator/status', async () => services.status());
}

/** POST /operator/comments/:id/hide: readers see it no more, or again. */
function addCommentHideRoute(app: HttpApp, services: OperatorServices): void {
  const schema = { params: OperatorCommentParams, body: CommentHide };
  app.post('/operator/comments/:id/hide', { schema }, async (request, reply) => {
    const { id: commentId } = request.params;
    if (services.comments.threads.find(commentId) === undefined) {
      return await reply.code(404).send({ error: 'comment not found' });
    }
    const { hidden } = request.body;
    await services.comments.write({
      kind: 'CommentHidden',
      commentId,
      hidden,
      timeMs: services.clock.nowMs(),
    });
    return { id: commentId, hidden };
  });
}
