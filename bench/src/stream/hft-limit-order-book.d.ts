/**
 * The package names a file of types that it does not contain; its books are those of nodejs-order-book, an older
 * version.
 */
declare module 'hft-limit-order-book' {
  export { OrderBook } from 'nodejs-order-book';
}
