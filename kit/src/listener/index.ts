export { refuseWebPages } from './before-routing.io.ts';
export { webPageProblem } from './web-pages.ts';
