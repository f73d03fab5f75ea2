/** The type of errors of the catalog family beside their text, by HTTP status (conventions.md 1.2). */
export function catalogErrorType(status: number): string {
  if (status === 404) return 'not found error';
  if (status === 429) return 'too many requests';
  if (status >= 400 && status < 500) return 'bad request';
  return status === 503 ? 'service unavailable' : 'internal error';
}

/** The class before the text of errors of the data family that name no field, by HTTP status (conventions.md 1.2). */
export function dataErrorClass(status: number): string {
  if (status === 404) return 'not_found';
  if (status === 429) return 'rate_limited';
  if (status >= 400 && status < 500) return 'bad_request';
  return status === 503 ? 'unavailable' : 'internal_error';
}
