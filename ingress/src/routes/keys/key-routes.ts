import type { DoorRoute } from '@pm/kit/http';
import { KeySettings } from '@pm/schemas';
import { checkerOf } from '../checker.ts';
import type { DoorPorts } from '../ports.ts';
import {
  createBuilderKeyRoute,
  deleteBuilderKeyRoute,
  listBuilderKeysRoute,
} from './builder-keys.ts';
import { closedOnlyRoute } from './closed-only.ts';
import { createKeyRoute } from './create-key.ts';
import { deleteKeyRoute } from './delete-key.ts';
import { deriveKeyRoute } from './derive-key.ts';
import { readSettingsRoute, writeSettingsRoute } from './key-settings.ts';
import { listKeysRoute } from './list-keys.ts';
import {
  createReadKeyRoute,
  deleteReadKeyRoute,
  listReadKeysRoute,
  validateReadKeyRoute,
} from './read-only-keys.ts';

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
