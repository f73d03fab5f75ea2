import type { DoorRoute } from '@pm/kit/http';
import { authenticate } from './authenticate.ts';
import { answerCancel } from './cancel-answer.ts';
import { cancelAll } from './cancel-runner.ts';
import type { DoorPorts } from './ports.ts';
import { invalidPayload, singleBodyMaxBytes } from './route.ts';
import { StageTimes } from './stage-times.ts';

/**
 * DELETE /cancel-all: every order of the caller in every market. Orders of his that arrived before it and are still on
 * their way are refused as `fenced`; those that arrive later are not touched. A body is ignored (docs/conventions.md 1.6).
 */
export function cancelAllRoute(ports: DoorPorts): DoorRoute {
  return {
    method: 'DELETE',
    path: '/cancel-all',
    add(app, { url }) {
      const options = { bodyLimit: singleBodyMaxBytes, config: { invalid: invalidPayload } };
      app.delete(url, options, async (request, reply) => {
        const times = new StageTimes(ports.clock);
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        times.mark('auth');
        return answerCancel(await cancelAll({ caller, times }, ports), { reply, times });
      });
    },
  };
}
