export { Fault, type FaultReaction, type Insistence, insist, reactionTo, within } from './fault.ts';
