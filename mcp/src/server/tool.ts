import type { Type } from 'typebox';

/** Effects of a tool, for clients that ask before they call (MCP: ToolAnnotations). */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** A tool as clients list it. */
export interface ToolDeclaration<
  In extends Type.TObject = Type.TObject,
  Out extends Type.TObject = Type.TObject,
> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: In;
  readonly output: Out;
  readonly annotations: ToolAnnotations;
}

/** Reads of the exchange: other people trade and write there. */
export const reading: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};

/** Changes orders or money; the same call again changes nothing more. */
export const changing: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: true,
};

/** Keeps the literal types of a declaration. */
export function declareTool<const In extends Type.TObject, const Out extends Type.TObject>(
  declaration: ToolDeclaration<In, Out>,
): ToolDeclaration<In, Out> {
  return declaration;
}

/** Codes of refusals of this server; those of the exchange are in errors.md. */
export type ToolRefusalCode =
  | 'invalid_input'
  | 'not_found'
  | 'no_own_wallet'
  | 'trading_off'
  | 'trading_not_here'
  | 'market_not_allowed'
  | 'order_too_large'
  | 'day_limit_reached'
  | 'spending_unrecorded'
  | 'preview_unknown'
  | 'preview_expired'
  | 'preview_differs'
  | 'order_unresolved'
  | 'internal_error';

/** Why a call changed and returned nothing, for the model to act on. */
export class ToolRefusal {
  /** A `ToolRefusalCode`, or a code of the exchange. */
  readonly code: string;
  readonly message: string;
  /** Whether the same call can succeed later. */
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | null;

  constructor(
    code: ToolRefusalCode | (string & {}),
    message: string,
    { retryable = false, retryAfterSeconds = null as number | null } = {},
  ) {
    this.code = code;
    this.message = message;
    this.retryable = retryable;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** The text of the result. */
  get text(): string {
    return JSON.stringify({
      error: {
        code: this.code,
        message: this.message,
        retryable: this.retryable,
        retry_after_seconds: this.retryAfterSeconds,
      },
    });
  }
}
