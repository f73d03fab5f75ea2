import { addressOf, type RegistryAccess } from './address.ts';
import { foreignLevel } from './compatibility-level.io.ts';
import { askRegistry } from './request.io.ts';
import { apicurioBase } from './restore.io.ts';
import { compatibility } from './schema-ids.io.ts';

/** Questions to a registry about itself. Every method rejects with an `Error` that has the `status` of a refusal. */
export interface RegistrySurvey {
  /** Number of subjects, of whichever owner. */
  subjects(): Promise<number>;
  /**
   * By which way lost schemas can be put back under their ids: the name and version of an Apicurio, which imports an
   * archive, or the mode (`READWRITE`) of a registry with modes; null where it tells neither.
   */
  idsTaken(): Promise<{ readonly way: 'archive' | 'mode'; readonly found: string } | null>;
  /** The level that was set for a subject on purpose and is not that of the exchange; null otherwise. */
  foreignLevel(subject: string): Promise<string | null>;
}

/** Asks a registry what it is, and changes nothing; the first question connects. */
export function surveyRegistry({
  url,
  access,
}: {
  readonly url: string;
  readonly access?: RegistryAccess;
}): RegistrySurvey {
  const address = addressOf(url, access);
  const own = apicurioBase(address);
  return {
    async subjects() {
      const { status, text } = await askRegistry(address, '/subjects');
      if (status === 404) throw new Error('no API of a registry at this path');
      return (JSON.parse(text) as readonly string[]).length;
    },
    async idsTaken() {
      if (own === null) {
        const { status, text } = await askRegistry(address, '/mode');
        if (status === 404) return null;
        return { way: 'mode', found: textIn(text, 'mode') };
      }
      const { status, text } = await askRegistry(own, '/system/info');
      if (status === 404) return null;
      return { way: 'archive', found: `${textIn(text, 'name')} ${textIn(text, 'version')}` };
    },
    foreignLevel: (subject) => foreignLevel(address, subject, compatibility),
  };
}

function textIn(json: string, name: string): string {
  return String(Reflect.get(Object(JSON.parse(json)), name));
}
