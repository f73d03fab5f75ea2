export { type Clock, systemClock } from './clock.io.ts';
