import type { Digests } from '@pm/deploy/local/engines/digests';
import { type Static, Type } from 'typebox';

const Component = Type.Object({
  'bom-ref': Type.String(),
  type: Type.String(),
  name: Type.String(),
  version: Type.Optional(Type.String()),
  purl: Type.Optional(Type.String()),
  scope: Type.Optional(Type.String()),
  hashes: Type.Optional(
    Type.Array(
      Type.Object({ alg: Type.String(), content: Type.String({ pattern: '^[0-9a-f]+$' }) }),
    ),
  ),
});

/** The parts of a bill of materials that this program reads or adds to (CycloneDX 1.5). */
export const Sbom = Type.Object({
  bomFormat: Type.Literal('CycloneDX'),
  specVersion: Type.String(),
  metadata: Type.Object({ component: Component }),
  components: Type.Array(Component),
  dependencies: Type.Array(
    Type.Object({ ref: Type.String(), dependsOn: Type.Optional(Type.Array(Type.String())) }),
  ),
});
export type Sbom = Static<typeof Sbom>;
export type SbomComponent = Static<typeof Component>;

/** Whatever is fetched beside the packages of npm. */
export interface OtherParts {
  /** Digests of the files of the engines, `deploy/local/engines.sha256`. */
  readonly engines: Digests;
  /** Digests of the binaries of Node that tests run on, `deploy/local/nodes.sha256`. */
  readonly nodes: Digests;
  /** Digests of the files of the store that tests run against, `deploy/local/store-server.sha256`. */
  readonly storeServer: Digests;
  /** Texts of lists of Python packages, in the form of `pip --require-hashes`. */
  readonly requirements: readonly string[];
}

/** The bill that npm wrote, with the engines, the binaries of Node and the Python packages. */
export function withOtherParts(bill: Sbom, name: string, parts: OtherParts): Sbom {
  const python = new Map(
    parts.requirements
      .flatMap(pythonComponents)
      .map((component) => [component['bom-ref'], component]),
  );
  return {
    ...bill,
    metadata: { ...bill.metadata, component: { ...bill.metadata.component, name } },
    components: [
      ...bill.components,
      ...fileComponents('engine', parts.engines, 'required'),
      ...fileComponents('node', parts.nodes, 'excluded'),
      ...fileComponents('store', parts.storeServer, 'excluded'),
      ...python.values(),
    ],
  };
}

function fileComponents(kind: string, digests: Digests, scope: string): readonly SbomComponent[] {
  return [...digests].map(([path, content]) => ({
    'bom-ref': `${kind}:${path}`,
    type: 'file',
    name: path,
    scope,
    hashes: [{ alg: 'SHA-256', content }],
  }));
}

/** Only tests and tools use them, so their scope is `excluded`; a package has a digest for each of its files. */
function pythonComponents(requirements: string): readonly SbomComponent[] {
  const entries = requirements.matchAll(
    /^([\w.-]+)==([^\s;]+)[^\n]*\n((?: {4}--hash[^\n]*\n?)*)/gm,
  );
  return [...entries].map(([, written = '', version = '', hashes = '']) => {
    const name = written.toLowerCase().replace(/[-_.]+/g, '-');
    const purl = `pkg:pypi/${name}@${version}`;
    const found = [...hashes.matchAll(/sha256:([0-9a-f]{64})/g)];
    return {
      'bom-ref': purl,
      type: 'library',
      name,
      version,
      purl,
      scope: 'excluded',
      hashes: found.map(([, content = '']) => ({ alg: 'SHA-256', content })),
    };
  });
}
