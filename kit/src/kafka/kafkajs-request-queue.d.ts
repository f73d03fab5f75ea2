/** The part of a connection of kafkajs that holds its requests; kafkajs' types leave it out. */
declare module 'kafkajs/src/network/requestQueue/index.js' {
  class RequestQueue {
    /** Requests that wait: for the end of a throttle, or for a place in flight. */
    readonly pending: readonly unknown[];
    /** Looks at them again later. */
    scheduleCheckPendingRequests(): void;
  }
  export = RequestQueue;
}
