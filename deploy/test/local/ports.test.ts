import { connect, createServer } from 'node:net';
import {
  defaultPorts,
  freeEnginePorts,
  holdFreePorts,
  portsFromEnvironment,
  portVariable,
  requireFreePort,
} from '../../src/local/ports.ts';

describe('ports', () => {
  it('returns different free ports and holds them until released', async () => {
    const held = await holdFreePorts(20);
    expect(new Set(held.ports).size).toBe(20);
    const [first = 0] = held.ports;
    await expect(requireFreePort(first, 'kafka')).rejects.toMatchObject({ code: 'PORT_IN_USE' });
    await held.release();
    await expect(requireFreePort(first, 'kafka')).resolves.toBeUndefined();
  });

  it('finds none that was found a moment ago and is not used yet', async () => {
    const former = await holdFreePorts(300);
    await former.release();
    const held = await holdFreePorts(300);
    await held.release();
    expect(held.ports.filter((port) => former.ports.includes(port))).toEqual([]);
  });

  it('finds the ports of all engines', async () => {
    const ports = Object.values(await freeEnginePorts());
    const used = new Set<number>(Object.values(defaultPorts));
    // From 32,768 on connections may take a port between release and use.
    expect(ports.every((port) => port > 1_023 && port < 32_768 && !used.has(port))).toBe(true);
    expect(new Set(ports).size).toBe(9);
  });

  it('names the port, its user and the way to choose another', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await expect(requireFreePort(port, 'redis')).rejects.toThrow(
      new RegExp(`port ${port} for redis is already in use\\. .*PM_PORT_`),
    );
    // Still the other's: the check must not have disturbed it.
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve());
      socket.unref().end();
    });
    await new Promise((resolve) => server.close(resolve));
  });

  it('reads overrides from the environment', () => {
    expect(portVariable('kafkaController')).toBe('PM_PORT_KAFKA_CONTROLLER');
    const ports = portsFromEnvironment({ PM_PORT_KAFKA_CONTROLLER: '7001', PM_PORT_REDIS: '' });
    expect(ports).toEqual({ ...defaultPorts, kafkaController: 7001 });
  });

  it.each(['0', '65536', 'x', '80.5', '-1'])('refuses %s as a port', (text) => {
    expect(() => portsFromEnvironment({ PM_PORT_REDIS: text })).toThrow(/PM_PORT_REDIS/);
  });

  it('refuses two services on one port', () => {
    const text = String(defaultPorts.kafka);
    expect(() => portsFromEnvironment({ PM_PORT_REDIS: text })).toThrow(/share a port/);
  });
});
