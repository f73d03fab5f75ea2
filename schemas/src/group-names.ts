/**
 * The consumer group in which a view is projected. What it has committed says how far its store is: everything below
 * is in. Readers that join stored rows with newer records (query-api) use it.
 */
export function projectorGroup(topicPrefix: string, view: string): string {
  return `${topicPrefix}projector-${view}`;
}
