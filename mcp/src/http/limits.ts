/** Requests that are carried out at a time, of one address and of all; further ones are 503. */
export const requestsAtOnce = { ofEach: 8, inAll: 48 } as const;
/** Open `subscriptions/listen` streams; each occupies a connection of the gateway. */
export const subscriptionsMax = 16;
/** A comment is sent on a silent stream so often, milliseconds: below every timeout on the way. */
export const keepAliveMs = 10_000;
