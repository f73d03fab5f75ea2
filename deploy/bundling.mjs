// One file of all modules of a program or thread.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { exporting, seldom } from './programs.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Modules of this repository: with the maps of the compiler, and with the place that they had as files. */
function ownModules(folder) {
  return {
    name: 'own-modules',
    load(id) {
      if (!id.startsWith(root) || id.includes(`${sep}node_modules${sep}`)) return null;
      const place = relative(folder, id).split(sep).join('/');
      const code = readFileSync(id, 'utf8').replaceAll(
        'import.meta.url',
        `new URL(${JSON.stringify(place)}, import.meta.url).href`,
      );
      const map = `${id}.map`;
      return existsSync(map) ? { code, map: readFileSync(map, 'utf8') } : { code };
    },
  };
}

/**
 * Bundles `entry`, a path below the repository, into `file`; files beside it are found from `place`, where the bundle
 * is run: a path below the repository, by default that of `file`.
 */
export async function bundleInto(file, entry, place = relative(root, file)) {
  const bundle = await rolldown({
    input: join(root, entry),
    platform: 'node',
    logLevel: 'warn',
    external: [...seldom, ...exporting],
    // Inputs are compiled.
    tsconfig: false,
    plugins: [ownModules(dirname(join(root, place)))],
  });
  await bundle.write({
    file,
    format: 'esm',
    codeSplitting: false,
    sourcemap: true,
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  });
  await bundle.close();
}
