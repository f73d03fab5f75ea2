import { checkerOf } from '@pm/domain/requests/requests.io';
import { type HttpHandler, refuse } from '@pm/kit/http';
import {
  type ProfileBody,
  ReactionBody,
  ReportBody,
  UncheckedComment,
  UncheckedProfile,
} from '@pm/schemas/http/comments';
import { checksumAddress } from '@pm/schemas/ids';
import { refuseWithoutMoney } from '../accounts/entry-quota.io.ts';
import { authenticate } from '../http/authentication.io.ts';
import {
  addReactionRoute,
  deleteCommentRoute,
  dropReactionRoute,
  postCommentRoute,
  reportCommentRoute,
} from './comments.route.ts';
import { readProfileForm } from './profile-form.ts';
import type { SocialServices } from './social-services.io.ts';

/** The routes that write comments and profiles. */
export function socialRoutes(services: SocialServices): readonly HttpHandler[] {
  return [
    postCommentRoute(services, checkerOf(UncheckedComment)),
    deleteCommentRoute(services),
    addReactionRoute(services, checkerOf(ReactionBody)),
    dropReactionRoute(services),
    reportCommentRoute(services, checkerOf(ReportBody)),
    putProfileRoute(services, checkerOf(UncheckedProfile)),
  ];
}

/** PUT /profile: how the caller's wallet is shown. The body is the whole profile; what is absent becomes empty. */
function putProfileRoute(
  services: SocialServices,
  isBody: (value: unknown) => value is ProfileBody,
): HttpHandler {
  return {
    method: 'PUT',
    path: '/profile',
    add(app, { url }) {
      app.put(url, async (request, reply) => {
        const caller = authenticate(request, reply, services.authentication);
        if (caller === null) return reply;
        const { body } = request;
        if (!isBody(body)) return refuse(reply, 'invalid_profile', { detail: 'its form' });
        const form = readProfileForm(body);
        if (typeof form === 'string') return refuse(reply, 'invalid_profile', { detail: form });
        const profile = await services.profiles.put(caller.address, form);
        if (profile === null) return refuseWithoutMoney(reply);
        const { name, bio, image: profileImage, xName: xUsername, showName } = form;
        const proxyWallet = checksumAddress(caller.address);
        const shown = { name, bio, profileImage, xUsername, displayUsernamePublic: showName };
        return { proxyWallet, ...shown };
      });
    },
  };
}
