import { nameProblem, textProblem, withPlainBreaks } from '@pm/domain/social/text-checks';
import type { ProfileBody } from '@pm/schemas/http/comments';
import { profileMaxChars } from '@pm/schemas/log/profiles';

/** The fields of a profile that its owner sets. */
export interface ProfileForm {
  readonly name: string;
  readonly bio: string;
  readonly image: string;
  readonly xName: string;
  readonly showName: boolean;
}

/** The profile of a body, or the reason why it is none. What is absent is empty. */
export function readProfileForm(sent: ProfileBody): ProfileForm | string {
  const name = (sent.name ?? '').trim();
  const bio = withPlainBreaks(sent.bio ?? '');
  const image = sent.profileImage ?? '';
  const xName = (sent.xUsername ?? '').replace(/^@/, '');
  const problem =
    problemOf('name', nameProblem(name, profileMaxChars.name)) ??
    problemOf('bio', textProblem(bio, { min: 0, max: profileMaxChars.bio })) ??
    problemOf('profileImage', textProblem(image, { min: 0, max: profileMaxChars.image })) ??
    problemOf('xUsername', textProblem(xName, { min: 0, max: profileMaxChars.xName }));
  if (problem !== null) return problem;
  if (xName !== '' && !/^\w+$/.test(xName)) return 'xUsername has letters, digits and _ only';
  if (image !== '' && !isWebAddress(image)) return 'profileImage is no http address';
  return { name, bio, image, xName, showName: sent.displayUsernamePublic ?? true };
}

function problemOf(field: keyof ProfileBody, problem: string | null): string | null {
  return problem === null ? null : `${field} ${problem}`;
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s<>"']+$/.test(text) && URL.canParse(text);
}
