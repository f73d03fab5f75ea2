import type { AuthPorts } from '../door/authentication.io.ts';
import type { SocialDesks } from './desks.ts';

/** Everything the routes of comments and profiles need. */
export type SocialPorts = AuthPorts & SocialDesks;
