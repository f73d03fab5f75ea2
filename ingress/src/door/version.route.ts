import type { DoorRoute } from '@pm/kit/http';
import { orderVersion } from '@pm/schemas';

/** GET /version: the version of the order struct, which clients read before they sign (conventions.md 1.1). */
export const versionRoute: DoorRoute = {
  method: 'GET',
  path: '/version',
  add(app, { url }) {
    app.get(url, async () => ({ version: orderVersion }));
  },
};
