import type { HttpApp } from '@pm/kit/http';
import { Type } from 'typebox';
import type { OperatorPorts } from './ports.io.ts';

const Params = Type.Object({ id: Type.String({ pattern: '^[1-9][0-9]{0,15}$' }) });
const Hide = Type.Object({ hidden: Type.Boolean() }, { additionalProperties: false });

/** POST /operator/comments/:id/hide: readers see it no more, or again. */
export function addCommentHideRoute(app: HttpApp, ports: OperatorPorts): void {
  const schema = { params: Params, body: Hide };
  app.post('/operator/comments/:id/hide', { schema }, async (request, reply) => {
    const { id: commentId } = request.params;
    if (ports.comments.threads.find(commentId) === undefined) {
      return await reply.code(404).send({ error: 'comment not found' });
    }
    const { hidden } = request.body;
    await ports.comments.write({
      ...{ kind: 'CommentHidden', commentId, hidden },
      timeMs: ports.clock.nowMs(),
    });
    return { id: commentId, hidden };
  });
}
