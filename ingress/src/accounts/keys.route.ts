import type { DoorRoute } from '@pm/kit/http';
import { KeySettings } from '@pm/schemas';
import { checkerOf } from '../door/checker.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import {
  createBuilderKeyRoute,
  deleteBuilderKeyRoute,
  listBuilderKeysRoute,
} from './builder-keys.route.ts';
import { closedOnlyRoute } from './closed-only.route.ts';
import { createKeyRoute } from './create-key.route.ts';
import { deleteKeyRoute } from './delete-key.route.ts';
import { deriveKeyRoute } from './derive-key.route.ts';
import { readSettingsRoute, writeSettingsRoute } from './key-settings.route.ts';
import { listKeysRoute } from './list-keys.route.ts';
import {
  createReadKeyRoute,
  deleteReadKeyRoute,
  listReadKeysRoute,
  validateReadKeyRoute,
} from './read-only-keys.route.ts';

/** Keys of every kind, and what a wallet may do. */
export function keyRoutes(ports: DoorPorts): readonly DoorRoute[] {
  return [
    createKeyRoute(ports),
    deriveKeyRoute(ports),
    listKeysRoute(ports),
    deleteKeyRoute(ports),
    readSettingsRoute(ports),
    writeSettingsRoute(ports, checkerOf(KeySettings)),
    createReadKeyRoute(ports),
    listReadKeysRoute(ports),
    deleteReadKeyRoute(ports),
    validateReadKeyRoute(ports),
    createBuilderKeyRoute(ports),
    listBuilderKeysRoute(ports),
    deleteBuilderKeyRoute(ports),
    closedOnlyRoute(ports),
  ];
}
