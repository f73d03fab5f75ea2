/** The largest body of a request, bytes. */
export const bodyMaxBytes = 64 * 1024;
/** Requests that are carried out at a time; further ones are 503. */
export const requestsAtOnceMax = 48;
/** Open `subscriptions/listen` streams; each occupies a connection of the gateway. */
export const subscriptionsMax = 16;
/** A comment is sent on a silent stream so often, milliseconds: below every timeout on the way. */
export const keepAliveMs = 10_000;
