import { type Problem, purityProblems } from './purity.ts';
import { moduleStateProblems, styleProblems, widthProblems } from './style.ts';
import { parseTypeScript } from './syntax.ts';
import { beginningProblems, wordProblems } from './words.ts';

/** Whether a file is pure by its name (docs/hacking.md, Rooms): neither `.io` nor `.route`, and no wiring of a room. */
export function isPure(path: string): boolean {
  if (!/^[a-z-]+\/src\/.*\.ts$/.test(path)) return false;
  return (
    !/\.(io|route)\.ts$/.test(path) &&
    !/^[a-z-]+\/src\/((streams|operator)\/)?(main|config|metrics)\.ts$/.test(path)
  );
}

/**
 * The rules that one source file or document breaks. `isByEnding`: the ending of a file of its room says what may be
 * impure; other rooms are commands and libraries at the edge, judged by width and style.
 */
export function problemsOf(path: string, text: string, isByEnding = true): readonly Problem[] {
  if (!path.endsWith('.ts')) return [...widthProblems(text), ...wordProblems(text)];
  const words = [...wordProblems(text), ...beginningProblems(text)];
  // The formatter breaks code; it leaves long texts whole, and so does this.
  const width = widthProblems(text).filter(({ line }) =>
    isComment(text.split('\n')[line - 1] ?? ''),
  );
  const syntax = parseTypeScript(text);
  const style = [...width, ...words, ...styleProblems(syntax)];
  if (!isByEnding || !/^[a-z-]+\/src\//.test(path)) return style;
  const purity = isPure(path) ? purityProblems(syntax) : [];
  return [...style, ...moduleStateProblems(syntax), ...purity];
}

function isComment(line: string): boolean {
  return /^\s*(\/\/|\/?\*)/.test(line);
}
