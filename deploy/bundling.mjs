// One file of all modules of a program or thread.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { bundleFolder, exporting, programs, seldom, threads } from './programs.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Entry of each bundle by its file below the repository. */
export const bundles = new Map([
  ...Object.entries(programs).map(([name, entry]) => [`${bundleFolder}/${name}.mjs`, entry]),
  ...Object.entries(threads).map(([name, entry]) => [`${bundleFolder}/${threadFile(name)}`, entry]),
]);

/** No program is called so: the image starts programs by their names. */
function threadFile(name) {
  return `${name}.thread.mjs`;
}

/** The place of a module, alone or with the path of a file from there. */
const ownPlace = /new URL\('(\.[^']+)', import\.meta\.url\)|import\.meta\.url/g;

/** A path below the repository as a module of its folder has it. */
function fromBundle(path) {
  return JSON.stringify(relative(bundleFolder, path).split(sep).join('/'));
}

/**
 * The code of a module whose files are found from a bundle: a thread in the bundle of it, others at the place that the
 * module had as a file.
 */
function placed(code, modulePath) {
  const here = `new URL(${fromBundle(modulePath)}, import.meta.url).href`;
  return code.replace(ownPlace, (_, file) => {
    if (file === undefined) return here;
    const path = join(dirname(modulePath), file).split(sep).join('/');
    const thread = Object.keys(threads).find((name) => threads[name] === path);
    return thread === undefined
      ? `new URL('${file}', ${here})`
      : `new URL('./${threadFile(thread)}', import.meta.url)`;
  });
}

/** Modules of this repository: with the maps of the compiler. */
const ownModules = {
  name: 'own-modules',
  load(id) {
    if (!id.startsWith(root) || id.includes(`${sep}node_modules${sep}`)) return null;
    const code = placed(readFileSync(id, 'utf8'), relative(root, id));
    const map = `${id}.map`;
    return existsSync(map) ? { code, map: readFileSync(map, 'utf8') } : { code };
  },
};

/** Bundles `entry` into `file`, both below the repository. */
export async function bundleInto(file, entry) {
  const bundle = await rolldown({
    input: join(root, entry),
    platform: 'node',
    logLevel: 'warn',
    external: [...seldom, ...exporting],
    // Inputs are compiled.
    tsconfig: false,
    plugins: [ownModules],
  });
  await bundle.write({
    file: join(root, file),
    format: 'esm',
    codeSplitting: false,
    sourcemap: true,
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  });
  await bundle.close();
}
