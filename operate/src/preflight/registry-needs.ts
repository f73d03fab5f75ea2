import { registryConnection } from '@pm/kit/config';
import { surveyRegistry, topicName } from '@pm/kit/registry';
import { subjectOf, topics } from '@pm/schemas/log/topics';
import { type Judgement, type Need, need, no, unknown, yes } from './need.ts';
import type { PreflightOptions } from './options.ts';

/** The registry, as needs are asked of it. */
export interface RegistryEngine {
  readonly survey: ReturnType<typeof surveyRegistry>;
  readonly subjects: readonly string[];
  close(): Promise<void>;
}

/** Connects and signs in. */
export async function openRegistrySurvey({ addresses }: PreflightOptions): Promise<RegistryEngine> {
  const survey = surveyRegistry(registryConnection(addresses));
  await survey.subjects();
  const subjects = Object.values(topics).map((topic) =>
    subjectOf(topicName(topic, addresses.topicPrefix)),
  );
  return { survey, subjects, close: async () => {} };
}

/** Everything that is needed of the registry. */
export const registryNeeds: readonly Need<RegistryEngine>[] = [
  need({
    name: 'lost schemas can be put back',
    page: 'recovery.md',
    ask: ({ survey }) => survey.idsTaken(),
    judge: judgeIds,
  }),
  need({
    name: 'compatibility of subjects',
    page: 'recovery.md',
    ask: async ({ survey, subjects }) => {
      const levels = subjects.map(
        async (subject) => [subject, await survey.foreignLevel(subject)] as const,
      );
      return await Promise.all(levels);
    },
    judge: judgeLevels,
  }),
];

export function judgeIds(
  found: { readonly way: 'archive' | 'mode'; readonly found: string } | null,
): Judgement {
  if (found === null) return unknown('the registry tells neither its kind nor its mode');
  if (found.way === 'archive') return yes(`${found.found} imports archives`);
  if (found.found === 'READWRITE')
    return yes('its mode is READWRITE; that it may become IMPORT for a subject is not tried');
  return no(`its mode is ${found.found}`, 'set the mode READWRITE: set-up registers schemas');
}

export function judgeLevels(
  found: readonly (readonly [subject: string, foreign: string | null])[],
): Judgement {
  const foreign = found.find(([, level]) => level !== null);
  if (foreign === undefined) return yes('no subject has a level that set-up would refuse');
  return no(`${foreign[0]} is ${foreign[1]}`, 'give the subject the level FULL_TRANSITIVE');
}
