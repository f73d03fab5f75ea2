import type { HttpApp } from '@pm/kit/http';
import type { Approval } from '@pm/schemas/log/approvals';
import type { OperatorRouteDeclaration } from '@pm/schemas/routes/route';
import { type GuardedAction, type OperatorBody, operatorRoutes } from '@pm/schemas/routes/routes';
import {
  changesTermsOfEvent,
  changesTermsOfMarket,
  editEvent,
  editMarket,
} from './catalog.route.ts';
import { isNewResolution } from './market-resolve.route.ts';
import { changesTermsByRules, ruleMarket } from './market-rules.route.ts';
import { creditWallets, needsTwoToDeposit, needsTwoToPayOut, payOut } from './money.route.ts';
import type { OperatorServices } from './operator-services.io.ts';
import { addressOf, operatorOfRequest } from './requests.io.ts';
import { resolveMarket } from './resolve-market.io.ts';
import { sendToSecondPerson } from './second-person.io.ts';
import {
  bindsNewWallets,
  bindWallets,
  liftsStatus,
  setFreeze,
  setStatus,
} from './wallets.route.ts';

/** Request of an operator. */
interface Asked<Body> {
  /** Subject that the path names: a market or an event by its number, or a wallet; empty without one. */
  readonly subject: string;
  /** The body, which the schema of its route has checked. */
  readonly body: Body;
  /** The operator's name. */
  readonly who: string;
}

interface Guard<Body> {
  /** Whether a second person has to approve it. What the route refuses needs none. */
  needsTwo(asked: Asked<Body>): boolean | Promise<boolean>;
  /** Carries out what was approved; a result, or an `OperatorProblem`. */
  carryOut(asked: Asked<Body>): Promise<object>;
}

type Guards = { readonly [Action in GuardedAction]: Guard<OperatorBody<Action>> };

/** One for each action that does not declare that it needs no second person (`secondPerson`). */
function guardsOf({ catalog, money, wallets }: OperatorServices): Guards {
  return {
    deposit: {
      needsTwo: ({ body, who }) => needsTwoToDeposit(body, who, money),
      carryOut: ({ body, who }) => creditWallets(body, who, money),
    },
    payOut: {
      needsTwo: ({ body, who }) => needsTwoToPayOut(body, who, money),
      carryOut: ({ body }) => payOut(body, money),
    },
    bindWallets: {
      needsTwo: ({ body }) => bindsNewWallets(body, wallets),
      carryOut: ({ body, who }) => bindWallets(body, who, wallets),
    },
    setWithdrawalFreeze: {
      needsTwo: ({ body }) => !body.frozen,
      carryOut: ({ subject, body }) => setFreeze(addressOf(subject), body, wallets),
    },
    setWalletStatus: {
      needsTwo: ({ subject, body }) => liftsStatus(addressOf(subject), body, wallets),
      carryOut: ({ subject, body }) => setStatus(addressOf(subject), body, wallets),
    },
    resolveMarket: {
      needsTwo: ({ subject, body }) => isNewResolution(Number(subject), body, catalog),
      carryOut: ({ subject, body }) => resolveMarket(Number(subject), body, catalog),
    },
    setMarketRules: {
      needsTwo: ({ subject, body }) => changesTermsByRules(Number(subject), body, catalog),
      carryOut: ({ subject, body }) => ruleMarket(Number(subject), body, catalog),
    },
    changeMarket: {
      needsTwo: ({ subject, body }) => changesTermsOfMarket(Number(subject), body, catalog),
      carryOut: ({ subject, body }) => editMarket(Number(subject), body, catalog),
    },
    changeEvent: {
      needsTwo: ({ subject, body }) => changesTermsOfEvent(subject, body, catalog),
      carryOut: ({ subject, body }) => editEvent(subject, body, catalog),
    },
  };
}

/**
 * Sends requests to a second person in front of their routes, so that none carries out what needs one. Call it before
 * the routes are added, behind the audit trail.
 */
export function guardActions(app: HttpApp, services: OperatorServices): void {
  const guards = guardsOf(services);
  const actions = actionsByRoute();
  app.addHook('preHandler', async (request, reply) => {
    const { method, routeOptions, params, body } = request;
    const action = actions.get(`${method} ${routeOptions.url ?? ''}`);
    if (action === undefined || !services.approvals.rule.isOn) return;
    const { id, address } = params as { readonly id?: string; readonly address?: string };
    const subject = id ?? address?.toLowerCase() ?? '';
    const guard = guards[action] as Guard<unknown>;
    const { name: who } = operatorOfRequest(request);
    if (!(await guard.needsTwo({ subject, body, who }))) return;
    const market = marketActions.has(action) ? Number(subject) : 0;
    await sendToSecondPerson(request, reply, { action, market, subject }, services);
  });
}

const marketActions: ReadonlySet<GuardedAction> = new Set([
  'resolveMarket',
  'setMarketRules',
  'changeMarket',
]);

/** Carries out an approved request. Its body was checked by its schema when it was sent. */
export function carryOutApproved(approval: Approval, services: OperatorServices): Promise<object> {
  const { subject, body, requestedBy: who } = approval;
  const guard = guardsOf(services)[approval.action as GuardedAction] as Guard<unknown>;
  return guard.carryOut({ subject, body: JSON.parse(body), who });
}

function actionsByRoute(): ReadonlyMap<string, GuardedAction> {
  const declared = Object.entries(operatorRoutes) as [string, OperatorRouteDeclaration][];
  const guarded = declared.filter(([, { secondPerson }]) => secondPerson !== 'never');
  return new Map(
    guarded.map(([name, { method, path }]) => [`${method} ${path}`, name as GuardedAction]),
  );
}
