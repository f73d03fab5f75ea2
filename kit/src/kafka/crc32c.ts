/**
 * CRC-32C (Castagnoli), the checksum of a record batch, sixteen bytes a step: table `n` is the effect of a byte that n
 * bytes follow (https://www.kernel.org/doc/html/latest/staging/crc32.html).
 */
export function crc32c(bytes: Uint8Array): number {
  const head = isLittleEndian ? Math.min(-bytes.byteOffset & 3, bytes.length) : bytes.length;
  const blocks = (bytes.length - head) >> 4;
  let crc = byByte(-1, bytes, { from: 0, to: head });
  if (blocks > 0) {
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + head, blocks * 4);
    crc = byBlock(crc, words);
  }
  return ~byByte(crc, bytes, { from: head + blocks * 16, to: bytes.length }) >>> 0;
}

function byByte(
  start: number,
  bytes: Uint8Array,
  { from, to }: { readonly from: number; readonly to: number },
): number {
  let crc = start;
  for (let at = from; at < to; at += 1)
    crc = (t0[(crc ^ (bytes[at] as number)) & 0xff] as number) ^ (crc >>> 8);
  return crc;
}

/** Four words a step. Look-ups are written out: a loop over the tables is several times slower. */
function byBlock(start: number, words: Int32Array): number {
  let crc = start;
  for (let at = 0; at < words.length; at += 4) {
    const a = crc ^ (words[at] as number);
    const b = words[at + 1] as number;
    const c = words[at + 2] as number;
    const d = words[at + 3] as number;
    crc =
      (tf[a & 0xff] as number) ^
      (te[(a >>> 8) & 0xff] as number) ^
      (td[(a >>> 16) & 0xff] as number) ^
      (tc[a >>> 24] as number) ^
      (tb[b & 0xff] as number) ^
      (ta[(b >>> 8) & 0xff] as number) ^
      (t9[(b >>> 16) & 0xff] as number) ^
      (t8[b >>> 24] as number) ^
      (t7[c & 0xff] as number) ^
      (t6[(c >>> 8) & 0xff] as number) ^
      (t5[(c >>> 16) & 0xff] as number) ^
      (t4[c >>> 24] as number) ^
      (t3[d & 0xff] as number) ^
      (t2[(d >>> 8) & 0xff] as number) ^
      (t1[(d >>> 16) & 0xff] as number) ^
      (t0[d >>> 24] as number);
  }
  return crc;
}

const polynomialReversed = 0x82f63b78;
const tableBytes = 256;

function makeTables(): Int32Array[] {
  const tables = [firstTable()];
  for (let n = 1; n < 16; n += 1) tables.push(nextTable(tables[0], tables[n - 1]));
  return tables;
}

function firstTable(): Int32Array {
  return Int32Array.from({ length: tableBytes }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1)
      crc = (crc & 1) === 1 ? (crc >>> 1) ^ polynomialReversed : crc >>> 1;
    return crc;
  });
}

function nextTable(first: Int32Array = new Int32Array(), before: Int32Array = first): Int32Array {
  return before.map((crc) => (crc >>> 8) ^ (first[crc & 0xff] as number));
}

const none = new Int32Array(tableBytes);
const [t0 = none, t1 = none, t2 = none, t3 = none, ...higher] = makeTables();
const [t4 = none, t5 = none, t6 = none, t7 = none, ...upper] = higher;
const [t8 = none, t9 = none, ta = none, tb = none, tc = none, td = none, te = none, tf = none] =
  upper;

/** Words are read in the order of the processor; on another one all goes by bytes. */
const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
