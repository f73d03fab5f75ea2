import type { AuthPorts } from '../authenticate.ts';
import type { SocialDesks } from './desks.ts';

/** Everything the routes of comments and profiles need. */
export type SocialPorts = AuthPorts & SocialDesks;
