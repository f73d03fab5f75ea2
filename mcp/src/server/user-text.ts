/** Characters of a text of a user that an output shows. */
const userTextMaxChars = 2_000;

/**
 * Characters that a reader does not see and that can hide a text in a text: controls except line feeds and tabs,
 * zero-width characters, marks that change the direction, variation selectors beyond those of emoji, and the tag block.
 */
const invisible =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** A text of a user without invisible characters, cut to `maxChars` code points with an ellipsis. */
export function userText(given: string, maxChars = userTextMaxChars): string {
  const visible = given.replaceAll(invisible, '');
  const points = [...visible];
  if (points.length <= maxChars) return visible;
  return `${points.slice(0, maxChars - 1).join('')}…`;
}
