/** `X_SERVICE_HOST`, `X_SERVICE_PORT`, `X_SERVICE_PORT_HTTP`, `X_PORT_8080_TCP`, `X_PORT_8080_TCP_ADDR` ... */
const linkName =
  /^PM(_[A-Z\d_]+)?_(SERVICE_(HOST|PORT(_[A-Z\d_]+)?)|PORT_\d{1,5}_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
/** Settings have such names too: only the value says which it is. */
const portName = /^PM(_[A-Z\d_]+)?_PORT$/;
const portValue = /^(tcp|udp|sctp):\/\/\S+:\d{1,5}$/;

/**
 * Whether a variable is a link that Kubernetes sets in each container of a namespace for a Service whose name begins
 * with `pm`: X is its name in capitals with underscores, and `X_PORT` is such as `tcp://10.0.0.1:8080` ("Discovering
 * services", environment variables). Settings that are declared are asked for first.
 */
export function isServiceLink(name: string, value: string): boolean {
  return linkName.test(name) || (portName.test(name) && portValue.test(value));
}
