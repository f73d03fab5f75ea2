import type { Dialect } from '@pm/kit/http';
import type { ReadPorts } from '../door/ports.ts';
import type { AssetForm } from '../positions/positions.ts';
import type { ReportFrame } from './trade-ledger.ts';

/** Which token ids public reports have in a dialect (conventions.md, Dialects). */
export function assetForm(dialect: Dialect): AssetForm {
  return dialect === 'family' ? 'numeric' : 'indexed';
}

/** What rows of public reports are shown with. */
export function reportFrame(
  { catalog, social }: Pick<ReadPorts, 'catalog' | 'social'>,
  dialect: Dialect,
): ReportFrame {
  return { catalog, profiles: social.profiles, form: assetForm(dialect) };
}
