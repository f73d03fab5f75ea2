import { LedgerFold } from '../../src/ledger/ledger-fold.ts';
import { encodeLedgerImage, LedgerImageReader } from '../../src/ledger/ledger-image.ts';
import { History } from './history.ts';

function foldOf(seed: number, steps: number): LedgerFold {
  const history = new History(seed);
  const fold = new LedgerFold();
  for (let done = 0; done < steps; ) {
    const step = history.step();
    if (step.kind === 'executions') {
      const { partition, fromOffset } = step.piece;
      if (fold.placeOf('executions', partition).offset !== fromOffset) continue;
      fold.applyExecutions(step.piece);
    } else if (step.kind === 'transfers') {
      if (fold.placeOf('transfers', 0).offset !== step.piece.fromOffset) continue;
      fold.applyTransfers(step.piece);
    } else continue;
    done += 1;
  }
  return fold;
}

function read(bytes: Buffer) {
  const reader = new LedgerImageReader();
  for (const _ of reader.read(bytes));
  const { places, wallets, transfers, markets, breaches } = reader.image;
  return { places, wallets, transfers, markets, breaches };
}

describe('the text of an image', () => {
  const fold = foldOf(3, 300);
  const bytes = Buffer.concat([...encodeLedgerImage(fold)]);

  test('says all of a fold', () => {
    const { places, wallets, transfers, markets, breaches } = fold;
    expect(breaches.size).toBeGreaterThan(0);
    expect(read(bytes)).toEqual({ places, wallets, transfers, markets, breaches });
  });

  test('cut anywhere, or without a line, is refused', () => {
    for (let end = 0; end < bytes.length; end += 7)
      expect(() => read(bytes.subarray(0, end))).toThrow('checkpoint_unreadable');
    const lines = bytes.toString('latin1').split('\n');
    for (let without = 0; without < lines.length - 1; without += 1) {
      const rest = lines.filter((_, index) => index !== without).join('\n');
      expect(() => read(Buffer.from(rest, 'latin1'))).toThrow('checkpoint_unreadable');
    }
  });

  test('a piece that does not begin where the last one ended is refused', () => {
    const { offset } = fold.placeOf('transfers', 0);
    const piece = { fromOffset: offset + 1, toOffset: offset + 2, transfers: [] };
    expect(() => new LedgerFold(fold).applyTransfers(piece)).toThrow('ledger_gap');
  });
});
