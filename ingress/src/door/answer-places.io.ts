import { answeredHeader, type HttpApp, placesText } from '@pm/kit/http';
import type { ReadOffsets } from '../log/read-offsets.io.ts';

type ReadPlaces = Pick<ReadOffsets, 'place'>;

/** How far in the log the answer to one request tells: of each partition as far as this process had read then. */
export class AnswerPlaces {
  readonly #read: ReadPlaces;
  readonly #places = new Map<number, number>();

  constructor(read: ReadPlaces) {
    this.#read = read;
  }

  /** The answer tells of a record of this partition that has been read. */
  add(partition: number): void {
    this.#places.set(partition, this.#read.place(partition));
  }

  /** The value of the header; empty while nothing is told of. */
  text(): string {
    return placesText(this.#places);
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What its answer tells of. */
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
    const text = request.answerPlaces?.text() ?? '';
    if (text !== '') void reply.header(answeredHeader, text);
    done();
  });
}
