export const programs: Readonly<Record<string, string>>;
export const seldom: readonly string[];
export const exporting: readonly string[];
export const native: readonly string[];
export const threads: readonly string[];
export const folders: readonly string[];
