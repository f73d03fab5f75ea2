export { guardServer, refuseWebPages } from './before-routing.io.ts';
export { endedForMs, endSocket, refuseUpgrade, takeUpgrades } from './upgrades.io.ts';
export { webPageProblem } from './web-pages.ts';
