import { signal } from '@preact/signals';
import { type Place, placeOf } from './place.ts';

/** Where the page is. */
export const place = signal<Place>(placeOf(location.hash));
addEventListener('hashchange', () => {
  place.value = placeOf(location.hash);
});
