import type { DoorRoute } from '@pm/kit/http';
import { AgentCreation } from '@pm/schemas';
import { checkerOf } from '../checker.ts';
import type { DoorPorts } from '../ports.ts';
import {
  deleteAgentRoute,
  pauseAgentRoute,
  resumeAgentRoute,
  rotateAgentRoute,
} from './change-agent.ts';
import { createAgentRoute } from './create-agent.ts';
import { listAgentsRoute } from './list-agents.ts';
import { meRoute } from './me.ts';

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
