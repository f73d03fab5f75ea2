import { parseWalletAddress } from '@pm/schemas/ids';
import { pseudonymOf } from '../../src/social/profiles.ts';

const walletOf = (bits: number) => {
  const wallet = parseWalletAddress(`0x${bits.toString(16).padStart(40, '0')}`);
  if (wallet === null) throw new Error('no address');
  return wallet;
};

it('gives every wallet two words and a number', () => {
  const words = [new Set<string>(), new Set<string>()] as const;
  for (let bits = 0; bits < 4096; bits++) {
    const [adjective = '', noun = '', number = ''] = pseudonymOf(walletOf(bits)).split('-');
    expect(`${adjective} ${noun} ${number}`).toMatch(/^[A-Z][a-z]+ [A-Z][a-z]+ \d+$/);
    words[0].add(adjective);
    words[1].add(noun);
  }
  expect(words.map((all) => all.size)).toEqual([64, 64]);
});
