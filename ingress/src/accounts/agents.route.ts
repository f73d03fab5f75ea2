import type { DoorRoute } from '@pm/kit/http';
import { AgentCreation } from '@pm/schemas';
import { checkerOf } from '../door/checker.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import {
  deleteAgentRoute,
  pauseAgentRoute,
  resumeAgentRoute,
  rotateAgentRoute,
} from './change-agent.route.ts';
import { createAgentRoute } from './create-agent.route.ts';
import { listAgentsRoute } from './list-agents.route.ts';
import { meRoute } from './me.route.ts';

/** Agents, and what one sees of itself. */
export function agentRoutes(ports: DoorPorts): readonly DoorRoute[] {
  return [
    meRoute(ports),
    listAgentsRoute(ports),
    createAgentRoute(ports, checkerOf(AgentCreation)),
    pauseAgentRoute(ports),
    resumeAgentRoute(ports),
    rotateAgentRoute(ports),
    deleteAgentRoute(ports),
  ];
}
