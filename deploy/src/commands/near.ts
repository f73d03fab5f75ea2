/** Test suites that Jest finds related to changed files, by project; paths from the root of the repository. */
export interface RelatedSuites {
  readonly unit: readonly string[];
  readonly engines: readonly string[];
}

/** Suites that `npm run test:near` runs. */
export interface NearSuites extends RelatedSuites {
  /** Related unit suites of other rooms that are left to `npm test`. */
  readonly leftOut: number;
}

/** The most related unit suites of rooms without a change that are run. */
const otherRoomsMax = 40;

/** Suites with a whole exchange each; one is run when a file beside it has changed. */
const wholeExchanges = 'acceptance';

/**
 * The suites of `npm run test:near`: related unit suites of the touched rooms, those of other rooms where they are few,
 * and related engine suites of the touched rooms.
 */
export function nearSuites(changed: readonly string[], related: RelatedSuites): NearSuites {
  const rooms = new Set(changed.map(roomOf));
  const folders = new Set(changed.map(folderOf));
  const isTouched = (suite: string) => rooms.has(roomOf(suite));
  const others = related.unit.filter((suite) => !isTouched(suite));
  const areFew = others.length <= otherRoomsMax;
  const touched = related.unit.filter(isTouched);
  return {
    unit: areFew ? [...touched, ...others] : touched,
    engines: related.engines.filter((suite) =>
      roomOf(suite) === wholeExchanges ? folders.has(folderOf(suite)) : isTouched(suite),
    ),
    leftOut: areFew ? 0 : others.length,
  };
}

function roomOf(file: string): string {
  return file.slice(0, file.indexOf('/'));
}

function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf('/'));
}
