import { parseJavaVersion } from '../../src/local/engines/java-tools.ts';
import { findRedis, parseRedisVersion } from '../../src/local/engines/redis-server.ts';

const jars = {
  java: 'java',
  kafkaLibDir: '',
  registryJar: '',
  log4jConfig: '',
  bundledRedis: '/x/redis',
};

describe('versions of tools', () => {
  it.each([
    ['openjdk version "17.0.15" 2025-04-15', 17],
    ['java version "1.8.0_402"', 8],
    ['openjdk version "21" 2023-09-19', 21],
    ['bash: java: command not found', undefined],
  ])('reads java out of %s', (output, version) => {
    expect(parseJavaVersion(output)).toBe(version);
  });

  it('reads redis-server --version', () => {
    expect(parseRedisVersion('Redis server v=7.0.15 sha=00000000:0')).toEqual([7, 0]);
    expect(parseRedisVersion('spawn redis-server ENOENT')).toBeUndefined();
  });

  it('takes the bundled redis on request', async () => {
    await expect(findRedis(jars, 'bundled')).resolves.toBe('/x/redis');
  });

  it('refuses an unknown choice with the list', async () => {
    await expect(findRedis(jars, 'docker')).rejects.toThrow(/auto or bundled/);
  });

  it('explains how to get redis when there is none', async () => {
    await expect(findRedis({ ...jars, bundledRedis: undefined }, 'bundled')).rejects.toThrow(
      /apt-get install -y redis-server/,
    );
  });
});
