export { Fault, type FaultReaction, reactionTo } from './fault.ts';
export { type Insistence, insist, within } from './waiting.io.ts';
