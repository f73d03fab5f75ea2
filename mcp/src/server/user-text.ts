/** Characters of a text of a user that an output shows. */
const userTextMaxChars = 2_000;

/**
 * Characters that a reader does not see and that can hide a text in a text: controls except line feeds and tabs, line
 * and paragraph separators, what Unicode lets a display ignore (zero-width and filler characters, marks that change the
 * direction, variation selectors, the tag block), and the blank or formatting ones that it does not list there:
 * annotations, the empty Braille pattern, the null notehead, and the controls of hieroglyphs.
 */
const invisible =
  /(?![\t\n])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb\u{13430}-\u{1343f}\u{1d159}]/gu;

/** A text of a user without invisible characters, cut to `maxChars` code points with an ellipsis. */
export function userText(given: string, maxChars = userTextMaxChars): string {
  const visible = given.replaceAll(invisible, '');
  const points = [...visible];
  if (points.length <= maxChars) return visible;
  return `${points.slice(0, maxChars - 1).join('')}…`;
}
