import { sameText } from '@pm/domain/accounts/same-text';
import type { HttpApp } from '@pm/kit/http';
import { addAuditRoute, auditRequests } from './audit.ts';
import { addCatalogRoutes } from './catalog-routes.ts';
import { addCommentHideRoute } from './comment-hide.ts';
import { addDepositsRoute } from './deposits.ts';
import { addMarketModeRoute } from './market-mode.ts';
import { addMarketResolveRoute } from './market-resolve.ts';
import type { OperatorPorts } from './ports.ts';
import { addSetMarketRoute } from './set-market.ts';
import { addTradingModeRoute } from './trading-mode.ts';
import { addWalletOwnerRoutes } from './wallet-owners.ts';
import { addWalletStatusRoutes } from './wallet-status.ts';
import { addWithdrawalFreezeRoutes } from './withdrawal-freeze.ts';
import { addWithdrawalsRoute } from './withdrawals.ts';

/**
 * Adds the operator's routes; every one wants `Authorization: Bearer <token>`, compared in constant time. Whatever is no
 * read is put on the audit trail (`auditRequests`).
 */
export function addOperatorRoutes(app: HttpApp, ports: OperatorPorts): void {
  const wanted = `Bearer ${ports.token}`;
  app.addHook('onRequest', async (request, reply) => {
    if (sameText(request.headers.authorization ?? '', wanted)) return;
    await reply.code(401).header('www-authenticate', 'Bearer').send({ error: 'unauthorized' });
  });
  auditRequests(app, ports);
  addAuditRoute(app, ports);
  addCatalogRoutes(app, ports);
  addCommentHideRoute(app, ports);
  addDepositsRoute(app, ports);
  addMarketModeRoute(app, ports);
  addMarketResolveRoute(app, ports);
  addSetMarketRoute(app, ports);
  addTradingModeRoute(app, ports);
  addWithdrawalsRoute(app, ports);
  addWithdrawalFreezeRoutes(app, ports);
  addWalletOwnerRoutes(app, ports);
  addWalletStatusRoutes(app, ports);
  app.get('/operator/status', async () => ports.status());
}
