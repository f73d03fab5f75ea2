import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { bodyTooLarge, type TooLarge } from './listener-bounds.ts';
import { errorStyleOf } from './route-family.ts';
import { familyOf } from './service-routes.io.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The message of a 400 of this route when body, query or path are not of its schema or not JSON; without it the
     * message names the wrong place.
     */
    invalid?: { readonly text: string; readonly code?: string };
    /** The response to a body beyond the limit of this route; default `bodyTooLarge`. */
    tooLarge?: TooLarge;
  }
}

/** The body of every response that is not a success (conventions.md 1.2). */
export interface ErrorBody {
  readonly error: string;
  readonly code?: string;
  readonly retry_after_seconds?: number;
}

/** A body that is refused before any route runs. */
export class BodyProblem extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.name = 'BodyProblem';
    this.statusCode = statusCode;
  }
}

/** Messages for refusals of fastify itself; its own say too much or too little. */
const frameworkTexts = new Map([
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'the content type of a body is application/json'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'the body is not as long as announced'],
  ['FST_ERR_CTP_INVALID_JSON_BODY', 'the body is not JSON'],
  ['FST_ERR_CTP_EMPTY_JSON_BODY', 'the body is empty'],
  ['FST_ERR_BAD_URL', 'the path cannot be decoded'],
  ['FST_ERR_MAX_PARAM_LENGTH', 'a part of the path is too long'],
]);

const retryAfterSeconds = 1;

interface Answer {
  readonly status: number;
  readonly body: ErrorBody;
}

/** Responds to errors of routes and refusals of fastify: JSON, no stack, no values of the request. */
export function errorAnswerer(log: Log) {
  return (error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void => {
    const { status, body } = answerTo(error, request);
    if (status >= 500) {
      const route = request.routeOptions.url ?? 'none';
      log.error({ err: error, route, requestId: request.id }, 'request failed');
    }
    if (body.retry_after_seconds !== undefined) {
      void reply.header('retry-after', String(body.retry_after_seconds));
    }
    const text = JSON.stringify(errorStyleOf(familyOf(request), status, body));
    void reply.code(status).type('application/json; charset=utf-8').send(text);
  };
}

function answerTo(error: FastifyError | Error, request: FastifyRequest): Answer {
  if (error instanceof Fault) return answerToFault(error);
  const status = 'statusCode' in error ? (error.statusCode ?? 500) : 500;
  if (status < 400 || status >= 500) return { status: 500, body: { error: 'internal error' } };
  const { invalid, tooLarge = bodyTooLarge } = request.routeOptions.config;
  if (status === 413) return { status: tooLarge.status, body: { error: tooLarge.text } };
  if (status === 400 && invalid !== undefined) return { status, body: bodyOf(invalid) };
  return { status, body: { error: textOf(error) } };
}

function answerToFault(fault: Fault): Answer {
  if (fault.reaction !== 'retry') return { status: 500, body: { error: 'internal error' } };
  const error = 'service unavailable, try again shortly';
  return { status: 503, body: { error, retry_after_seconds: retryAfterSeconds } };
}

function bodyOf({ text, code }: { readonly text: string; readonly code?: string }): ErrorBody {
  return code === undefined ? { error: text } : { error: text, code };
}

/** Ajv's messages name places and rules of the schema, never the values sent. */
function textOf(error: FastifyError | Error): string {
  if (error instanceof BodyProblem) return error.message;
  if ('validation' in error && error.validation !== undefined) {
    return `invalid request: ${error.message}`.slice(0, maxTextChars);
  }
  const code = 'code' in error ? error.code : '';
  return frameworkTexts.get(code) ?? 'bad request';
}

const maxTextChars = 200;
