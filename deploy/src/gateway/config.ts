import { type ConfigOf, publicDoorFields, readConfig } from '@pm/kit/config';

/** Variables of the gateway; the configuration reference is made of them. */
export const gatewayFields = { trustedProxies: publicDoorFields.trustedProxies };

/** Reads the environment. Throws the `Fault` `invalid_config` (stop). */
export function readGatewayConfig(
  env?: Readonly<Record<string, string | undefined>>,
): ConfigOf<typeof gatewayFields> {
  return readConfig(gatewayFields, env);
}
