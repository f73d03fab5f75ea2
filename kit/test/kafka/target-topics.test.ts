import { TargetTopics } from '../../src/kafka/target-topics.io.ts';

/** A cluster whose look at the metadata takes until `answer` is called. */
class FakeCluster {
  readonly added: string[][] = [];
  answer: (error?: Error) => void = () => {};

  addMultipleTargetTopics(topics: string[]): Promise<void> {
    this.added.push(topics);
    return new Promise((resolve, reject) => {
      this.answer = (error) => (error === undefined ? resolve() : reject(error));
    });
  }
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

test('topics that come while metadata is read are added together after it', async () => {
  const cluster = new FakeCluster();
  const topics = new TargetTopics(cluster);
  const first = topics.add('a');
  await turn();
  const others = ['b', 'c', 'd', 'b'].map((topic) => topics.add(topic));
  await turn();
  expect(cluster.added).toEqual([['a']]);
  cluster.answer();
  await first;
  await turn();
  expect(cluster.added).toEqual([['a'], ['b', 'c', 'd']]);
  cluster.answer();
  await Promise.all(others);
});

test('an error is that of those who waited for it, and the topic can be added again', async () => {
  const cluster = new FakeCluster();
  const topics = new TargetTopics(cluster);
  const first = topics.add('a');
  await turn();
  const second = topics.add('b');
  cluster.answer(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await turn();
  cluster.answer();
  await second;
  const again = topics.add('a');
  await turn();
  cluster.answer();
  await again;
  expect(cluster.added).toEqual([['a'], ['b'], ['a']]);
});
