import { ExchangeError, UnresolvedActionError } from '@pm/client';
import { refusalOf } from '../src/server/tool.io.ts';

test('a failed account action whose outcome is unknown is refused with its id', () => {
  const cause = new ExchangeError(429, { error: 'Too Many Requests', code: 'rate_limited' });
  const refusal = refusalOf(new UnresolvedActionError('pay-7', cause));
  expect(refusal).toMatchObject({ code: 'action_unresolved', retryable: true });
  expect(refusal.text).toContain('action pay-7');
});
