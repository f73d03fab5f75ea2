import type { QueryParameter } from '@pm/kit/clickhouse';
import { type Seams, seamOpen } from '../recent/recent-log.ts';

/** The condition that leaves to memory what lies behind the seams; empty when the tables answer alone. */
export function andInFrontOf(seams: Seams, column: string): string {
  if (!hasSeam(seams)) return '';
  // A partition that came later has no seam yet.
  const seam = '{seams:Array(UInt64)}';
  return `AND (partition >= length(${seam}) OR ${column} < ${seam}[partition + 1])`;
}

/** The parameter of `andInFrontOf`. */
export function seamParams(seams: Seams): Record<string, QueryParameter> {
  return hasSeam(seams) ? { seams: [...seams] } : {};
}

function hasSeam(seams: Seams): boolean {
  return seams.some((seam) => seam !== seamOpen);
}
