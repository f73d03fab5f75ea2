import type { StreamDescription } from '@pm/schemas/http/streams';
import { streamChannels, streamPaths } from '@pm/schemas/streams/channels';
import { streamCloses, streamErrors } from '@pm/schemas/streams/codes';
import {
  type StreamLimitName,
  streamLimitMeanings,
  streamLimits,
} from '@pm/schemas/streams/limits';

/** The body of GET /v1/stream: the declarations as a list for people. */
export function streamDescription(): StreamDescription {
  return {
    path: streamPaths.own,
    description: '/asyncapi.json',
    channels: Object.entries(streamChannels).map(([channel, declared]) => ({
      channel,
      key: declared.key,
      private: declared.isPrivate,
      message: declared.message,
      snapshot: declared.snapshot,
    })),
    limits: limitsList(),
    errors: Object.entries(streamErrors).map(([code, { message, isRetryable }]) => ({
      code,
      message,
      retryable: isRetryable,
    })),
    close_codes: Object.values(streamCloses).map(({ code, reason, isResumable }) => ({
      code,
      reason,
      resumable: isResumable,
    })),
  };
}

function limitsList(): StreamDescription['limits'] {
  return Object.entries(streamLimits).map(([name, limit]) => ({
    name,
    limit,
    meaning: streamLimitMeanings[name as StreamLimitName],
  }));
}
