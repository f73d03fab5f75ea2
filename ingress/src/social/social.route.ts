import { type DoorRoute, refuse } from '@pm/kit/http';
import { CommentBody, checksumAddress, ProfileBody, ReactionBody, ReportBody } from '@pm/schemas';
import { authenticate } from '../door/authentication.io.ts';
import { checkerOf, singleBodyMaxBytes } from '../door/request-checks.io.ts';
import {
  addReactionRoute,
  deleteCommentRoute,
  dropReactionRoute,
  postCommentRoute,
  reportCommentRoute,
} from './comments.route.ts';
import type { SocialPorts } from './ports.io.ts';
import { readProfileForm } from './profile-form.ts';

/** The routes that write comments and profiles. */
export function socialRoutes(ports: SocialPorts): readonly DoorRoute[] {
  return [
    postCommentRoute(ports, checkerOf(CommentBody)),
    deleteCommentRoute(ports),
    addReactionRoute(ports, checkerOf(ReactionBody)),
    dropReactionRoute(ports),
    reportCommentRoute(ports, checkerOf(ReportBody)),
    putProfileRoute(ports, checkerOf(ProfileBody)),
  ];
}

/** PUT /profile: how the caller's wallet is shown. The body is the whole profile; what is absent becomes empty. */
function putProfileRoute(
  ports: SocialPorts,
  isBody: (value: unknown) => value is ProfileBody,
): DoorRoute {
  return {
    method: 'PUT',
    path: '/profile',
    add(app, { url }) {
      app.put(url, { bodyLimit: singleBodyMaxBytes }, async (request, reply) => {
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        const { body } = request;
        if (!isBody(body)) return refuse(reply, 'invalid_profile', { detail: 'its form' });
        const form = readProfileForm(body);
        if (typeof form === 'string') return refuse(reply, 'invalid_profile', { detail: form });
        await ports.profiles.put(caller.address, form);
        const { name, bio, image: profileImage, xName: xUsername, showName } = form;
        const proxyWallet = checksumAddress(caller.address);
        const shown = { name, bio, profileImage, xUsername, displayUsernamePublic: showName };
        return { proxyWallet, ...shown };
      });
    },
  };
}
