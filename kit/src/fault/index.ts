export { Fault, type FaultReaction, reactionTo } from './fault.ts';
export { insist, within } from './waiting.io.ts';
