import { type Problem, purityProblems } from './purity.ts';
import { moduleStateProblems, styleProblems, widthProblems } from './style.ts';
import { parseTypeScript } from './syntax.ts';

/** Whether a file is pure by its name (docs/hacking.md, Rooms): neither `.io` nor `.route`, and no wiring of a room. */
export function isPure(path: string): boolean {
  if (!/^[a-z-]+\/src\/.*\.ts$/.test(path)) return false;
  return !/\.(io|route)\.ts$/.test(path) && !/^[a-z-]+\/src\/(main|config|metrics)\.ts$/.test(path);
}

/** The rules that one file of a converted room, or a document, breaks. */
export function problemsOf(path: string, text: string): readonly Problem[] {
  const width = widthProblems(text);
  if (!path.endsWith('.ts')) return width;
  const syntax = parseTypeScript(text);
  const style = [...width, ...styleProblems(syntax)];
  if (!/^[a-z-]+\/src\//.test(path)) return style;
  const purity = isPure(path) ? purityProblems(syntax) : [];
  return [...style, ...moduleStateProblems(syntax), ...purity];
}
