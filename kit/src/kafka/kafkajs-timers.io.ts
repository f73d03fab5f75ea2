import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

const lookLater = RequestQueue.prototype.scheduleCheckPendingRequests;

function lookWhileOneWaits(this: RequestQueue): void {
  if (this.pending.length > 0) lookLater.call(this);
}

/**
 * Lets connections of kafkajs look for waiting requests only while there is one. kafkajs 2.2.4 computes the next look
 * from the end of a throttle also where there is none: each connection looks every millisecond for as long as it is
 * there, a third of what an idle service computes.
 */
export function restIdleConnections(): void {
  RequestQueue.prototype.scheduleCheckPendingRequests = lookWhileOneWaits;
}
