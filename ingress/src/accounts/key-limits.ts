/** Keys of one kind that a wallet may use at a time. */
export const activeKeysMax = 50;
/** Keys of one kind that a wallet may ever have: revoked ones are remembered for ever. */
export const keysEverMax = 1_000;
/** Agents that a wallet may have at a time. */
export const agentsMax = 50;
/** Agents that a wallet may ever have: deleted ones are remembered for ever. */
export const agentsEverMax = 1_000;

/** The limit that one more key would break; null when there is room. An old key that is made active again is not new. */
export function brokenKeyLimit(
  keys: readonly { readonly active: boolean }[],
  isNew: boolean,
): number | null {
  if (keys.filter(({ active }) => active).length >= activeKeysMax) return activeKeysMax;
  return isNew && keys.length >= keysEverMax ? keysEverMax : null;
}
