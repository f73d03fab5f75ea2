import { AnswerPlaces, type ReadPlaces } from '@pm/domain/requests/answer-places';
import { answeredHeader, type HttpApp, placesText } from '@pm/kit/http';

declare module 'fastify' {
  interface FastifyRequest {
    /** The places in the log that its answer tells of. */
    answerPlaces: AnswerPlaces;
  }
}

/**
 * Names in each response how far in the log it tells, for the gateway: what reads for the same client waits for it
 * (conventions.md 1.5). Call it before the routes are added.
 */
export function nameAnswers(app: HttpApp, read: ReadPlaces): void {
  app.decorateRequest('answerPlaces');
  app.addHook('onRequest', (request, _reply, done) => {
    request.answerPlaces = new AnswerPlaces(read);
    done();
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    const text = placesText(request.answerPlaces?.all() ?? []);
    if (text !== '') void reply.header(answeredHeader, text);
    done();
  });
}
