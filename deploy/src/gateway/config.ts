import {
  type ConfigOf,
  type Field,
  publicDoorFields,
  readConfig,
  serviceFields,
  traceFields,
} from '@pm/kit/config';

/** Without it a free port, so that a gateway that was started without one still starts. */
const opsPort: Field<number> = { ...serviceFields.opsPort, fallback: { value: 0 } };

/** Variables of the gateway; the configuration reference is made of them. */
export const gatewayFields = {
  host: publicDoorFields.host,
  trustedProxies: publicDoorFields.trustedProxies,
  connectionsPerAddress: publicDoorFields.connectionsPerAddress,
  opsHost: serviceFields.opsHost,
  opsPort,
  ...traceFields,
};

/** Reads the environment. Throws the `Fault` `invalid_config` (stop). */
export function readGatewayConfig(
  env?: Readonly<Record<string, string | undefined>>,
): ConfigOf<typeof gatewayFields> {
  return readConfig(gatewayFields, env);
}
