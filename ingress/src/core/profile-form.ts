import { type ProfileBody, profileMaxChars } from '@pm/schemas';
import { textProblem } from './check-text.ts';

/** The fields of a profile that its owner sets. */
export interface ProfileForm {
  readonly name: string;
  readonly bio: string;
  readonly image: string;
  readonly xName: string;
  readonly showName: boolean;
}

/** The profile of a body, or in words why it is none. What is absent is empty. */
export function readProfileForm(sent: ProfileBody): ProfileForm | string {
  const name = (sent.name ?? '').trim();
  const bio = sent.bio ?? '';
  const image = sent.profileImage ?? '';
  const xName = (sent.xUsername ?? '').replace(/^@/, '');
  if (/[\n\t]/.test(name)) return 'the name has line breaks';
  for (const [field, text] of Object.entries({ name, bio, image, xName })) {
    const max = profileMaxChars[field as keyof typeof profileMaxChars];
    const problem = textProblem(text, { min: 0, max });
    if (problem !== null) return `${field} is ${problem}`;
  }
  if (xName !== '' && !/^\w+$/.test(xName)) return 'xUsername has letters, digits and _ only';
  if (image !== '' && !isWebAddress(image)) return 'profileImage is no http address';
  return { name, bio, image, xName, showName: sent.displayUsernamePublic ?? true };
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s<>"']+$/.test(text) && URL.canParse(text);
}
