/** Names of protections that are removed; an exchange without defects has none. */
export type Defects = ReadonlySet<string>;

export const noDefects: Defects = new Set();
