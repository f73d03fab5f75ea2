import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An authority of a test, and a certificate for servers on the loopback address; PEM files. */
export interface Certificates {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** Key, certificate and authority in one file, as Kafka takes them. */
  readonly chainFile: string;
  /** An authority that signed nothing. */
  readonly otherCaFile: string;
}

const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** The `openssl` that is installed on the system. */
const command = 'openssl';

/** Makes them with `openssl`, valid for a day. */
export function makeCertificates(folder: string): Certificates {
  const at = (name: string) => join(folder, name);
  const openssl = (...args: readonly string[]) =>
    execFileSync(command, [...args, '-days', '1'], { stdio: ['ignore', 'ignore', 'pipe'] });
  for (const name of ['ca', 'other-ca'])
    openssl(
      ...['req', '-x509', ...ec, '-subj', `/CN=${name}`],
      ...['-keyout', at(`${name}.key`), '-out', at(`${name}.pem`)],
    );
  openssl(
    ...[
      'req',
      '-x509',
      ...ec,
      '-subj',
      '/CN=localhost',
      '-CA',
      at('ca.pem'),
      '-CAkey',
      at('ca.key'),
    ],
    ...['-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'],
    ...['-addext', 'basicConstraints=critical,CA:FALSE'],
    ...['-keyout', at('server.key'), '-out', at('server.pem')],
  );
  const texts = ['server.key', 'server.pem', 'ca.pem'].map((name) =>
    readFileSync(at(name), 'utf8'),
  );
  writeFileSync(at('chain.pem'), texts.join(''));
  return {
    caFile: at('ca.pem'),
    certFile: at('server.pem'),
    keyFile: at('server.key'),
    chainFile: at('chain.pem'),
    otherCaFile: at('other-ca.pem'),
  };
}
