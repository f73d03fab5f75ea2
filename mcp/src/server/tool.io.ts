import { ExchangeError } from '@pm/client';
import type { Static, Type } from 'typebox';
import type { Session } from './session.io.ts';
import { type ToolDeclaration, ToolRefusal } from './tool.ts';
import { userText } from './user-text.ts';

/** A tool with what it does. */
export interface Tool<
  In extends Type.TObject = Type.TObject,
  Out extends Type.TObject = Type.TObject,
> {
  readonly declaration: ToolDeclaration<In, Out>;
  run(input: Static<In>, session: Session): Promise<Static<Out> | ToolRefusal>;
}

/** Ties a declaration to what it does. */
export function tool<const In extends Type.TObject, const Out extends Type.TObject>(
  declaration: ToolDeclaration<In, Out>,
  run: (input: Static<In>, session: Session) => Promise<Static<Out> | ToolRefusal>,
): Tool {
  // The input has been validated against the declaration when `run` is called.
  return { declaration, run: run as Tool['run'] };
}

/** A failed request as a refusal; any other error is a fault of this server and is thrown again. */
export function refusalOf(error: unknown): ToolRefusal {
  if (!(error instanceof ExchangeError)) throw error;
  const { status, retryable, retryAfterSeconds } = error;
  const code = error.code === '' ? `http_${status}` : error.code;
  return new ToolRefusal(code, userText(error.message, 500), { retryable, retryAfterSeconds });
}
