// A group member in a process of its own, so that it can be killed or frozen. Runs on the built kit; says what happens
// in lines.
import process from 'node:process';
import { openLogClient } from '../../dist/kafka/index.js';
import { silentLog } from '../../dist/log/index.js';

const [broker, groupId, topic, sessionTimeoutMs] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${line}\n`);

const client = openLogClient({ brokers: [broker], clientId: 'child', log: silentLog });
const group = await client.group({
  groupId,
  topic,
  dense: true,
  instance: 'child',
  sessionTimeoutMs: Number(sessionTimeoutMs),
  onAssigned: async (partition) => {
    say(`assigned ${partition}`);
    return 0;
  },
  onRevoked: async (partition) => say(`revoked ${partition}`),
  onBatch: async ({ partition, records }) => say(`batch ${partition} ${records.length}`),
  onFault: (fault) => say(`fault ${fault.code}`),
});

/** Commits as fast as it can, as long as anybody lets it. */
for (;;) {
  try {
    await group.commit(0, 0, 'child');
    say('committed');
  } catch (fault) {
    say(`refused ${fault.code}`);
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
}
