import { testDomain } from '../../kit/test/signing-domain.ts';
import { pinDomain } from '../src/trade/pin-domain.ts';

test('a changed signing domain is taken only when the person says so', async () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
  };
  const questions: string[] = [];
  const visit = (exchange: string, answer: boolean) =>
    pinDomain({ signingDomain: async () => ({ ...testDomain, exchange }) }, storage, (question) => {
      questions.push(question);
      return answer;
    });
  const [first, second] = ['11', '22'].map((byte) => `0x${byte.repeat(20)}`) as [string, string];
  await visit(first, false);
  await visit(first, false);
  expect(questions).toEqual([]);
  await expect(visit(second, false)).rejects.toThrow('the signing domain has changed');
  expect(questions[0]).toMatch(new RegExp(`${second}.*It was .*${first}`));
  await visit(first, false);
  await visit(second, true);
  expect(questions).toHaveLength(2);
  await visit(second, false);
});
