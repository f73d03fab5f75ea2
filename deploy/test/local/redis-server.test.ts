import { requirePong } from '../../src/local/engines/redis-server.ts';
import { WaitsForEngines } from '../../src/local/managed-process.ts';

test('a server that reads its file is waited for without a limit, and no other answer is', () => {
  const thrownBy = (answer: string): unknown => {
    try {
      requirePong(answer);
      return null;
    } catch (error) {
      return error;
    }
  };
  expect(thrownBy('+PONG\r\n')).toBeNull();
  const loading = '-LOADING Redis is loading the dataset in memory\r\n';
  expect(thrownBy(loading)).toBeInstanceOf(WaitsForEngines);
  const denied = thrownBy('-NOAUTH Authentication required.\r\n');
  expect(denied).toEqual(new Error('-NOAUTH Authentication required.'));
  expect(denied).not.toBeInstanceOf(WaitsForEngines);
});
