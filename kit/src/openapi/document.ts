import { rateRulesOf } from '@pm/schemas/rate-limits';
import { operatorResponsesOf, responsesOf } from '@pm/schemas/routes/responses';
import {
  type Declaration,
  familyMounts,
  type OperatorRouteDeclaration,
  type RouteDeclaration,
  secondPersonCases,
  urlsOf,
} from '@pm/schemas/routes/route';
import { operatorSubjects, routeSubjects } from '@pm/schemas/routes/routes';
import { Components } from './components.ts';
import { operatorSchemes, publicSchemes, requestHeaders, responseHeaders } from './headers.ts';
import { type OperationParts, operationOf } from './operation.ts';

/** An OpenAPI 3.1 document. */
export interface OpenApi {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly [kind: string]: object;
  };
  readonly [part: string]: unknown;
}

/** The version of the API: that of the packages. */
export const apiVersion = '0.1.0';

type Listed = Declaration & { readonly method: string; readonly path: string };
type Subjects<R> = Readonly<Record<string, Readonly<Record<string, R>>>>;

/** The public API. The same for the same declarations, in the order of the subjects. */
export function openApiDocument(): OpenApi {
  return documentOf(routeSubjects, {
    info: {
      title: 'Prediction exchange',
      version: apiVersion,
      description:
        'Parameters are text: nothing is coerced, and an empty value of a query counts as absent. Amounts are decimal text. ' +
        'Each operation is served at the root and under the mounts among its servers, where clients of the family find its ' +
        'forms (conventions.md 1.1).',
    },
    partsOf: (name, subject, route) => ({
      name,
      subject,
      route,
      responses: responsesOf(route),
      mounts: mountsOf(route),
      limits: [...new Set(rateRulesOf(route).map(({ scope }) => scope.name))],
      roles: [],
    }),
    schemes: publicSchemes,
  });
}

/** The operator's listener. */
export function operatorApiDocument(): OpenApi {
  return documentOf(operatorSubjects, {
    info: {
      title: 'Prediction exchange, operator',
      version: apiVersion,
      description: 'Served on the port of the operator only (operator.md).',
    },
    partsOf: (name, subject, route) => ({
      name,
      subject,
      route: { ...route, ...describedWithSecondPerson(route) },
      responses: operatorResponsesOf(route),
      mounts: [],
      limits: null,
      roles: [route.role],
    }),
    schemes: operatorSchemes,
  });
}

/** The description says when a second operator has to approve a request. */
function describedWithSecondPerson({ description, secondPerson }: OperatorRouteDeclaration): {
  readonly description?: string;
} {
  if (secondPerson === 'never') return {};
  const approval = `A second operator approves it ${secondPersonCases[secondPerson]} (202).`;
  return { description: description === undefined ? approval : `${description} ${approval}` };
}

function documentOf<R extends Listed>(
  subjects: Subjects<R>,
  of: {
    readonly info: OpenApi['info'];
    partsOf(name: string, subject: string, route: R): OperationParts;
    readonly schemes: Readonly<Record<string, object>>;
  },
): OpenApi {
  const components = new Components();
  const paths: Record<string, Record<string, object>> = {};
  for (const [subject, routes] of Object.entries(subjects)) {
    for (const [name, route] of Object.entries(routes)) {
      const path = route.path.replace(/:(\w+)/g, '{$1}');
      const operations = paths[path] ?? {};
      operations[route.method.toLowerCase()] = operationOf(
        of.partsOf(name, subject, route),
        components,
      );
      paths[path] = operations;
    }
  }
  return {
    openapi: '3.1.0',
    info: of.info,
    servers: [{ url: '/' }],
    tags: Object.keys(subjects).map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: of.schemes,
      parameters: requestHeaders,
      headers: responseHeaders,
      responses: components.responses(),
      schemas: components.schemas(),
    },
  };
}

/** Prefixes of a route besides the root. */
function mountsOf(route: RouteDeclaration): readonly string[] {
  const prefixes = urlsOf(route).flatMap(({ mount }) =>
    mount === null ? [] : [familyMounts[mount]],
  );
  return [...new Set(prefixes)];
}
