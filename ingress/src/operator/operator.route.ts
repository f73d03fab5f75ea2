import { sameText } from '@pm/domain/accounts/same-text';
import type { HttpApp } from '@pm/kit/http';
import { addAuditRoute, auditRequests } from './audit.route.ts';
import { addCatalogRoutes } from './catalog.route.ts';
import { addCommentHideRoute } from './comment-hide.route.ts';
import { addMarketModeRoute } from './market-mode.route.ts';
import { addMarketResolveRoute } from './market-resolve.route.ts';
import { addSetMarketRoute } from './market-rules.route.ts';
import { addDepositsRoute } from './money.route.ts';
import type { OperatorPorts } from './ports.io.ts';
import { addTradingModeRoute } from './trading-mode.route.ts';
import { addWalletOwnerRoutes } from './wallet-owners.route.ts';
import { addWalletStatusRoutes } from './wallets.route.ts';
import { addWithdrawalFreezeRoutes } from './withdrawal-freeze.route.ts';
import { addWithdrawalsRoute } from './withdrawals.route.ts';

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
