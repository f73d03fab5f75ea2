import { setTimeout as wait } from 'node:timers/promises';
import type { KeyHolder, KeyVerifier } from '@pm/domain/accounts/key-verifier';
import { coversNothing } from '@pm/domain/accounts/request-hmac';
import { CommentThreads } from '@pm/domain/comments/threads';
import { TransferTotals } from '@pm/domain/ledger/transfer-totals';
import { Catalog } from '@pm/domain/markets/catalog';
import { Profiles } from '@pm/domain/social/profiles';
import { MemoryTransfers } from '@pm/domain/testing/memory-transfers';
import { silentLog } from '@pm/kit/log';
import type { StreamCloseName } from '@pm/schemas/streams/codes';
import { apiKey, eventEntry, marketEntry, wallet } from '../../query-api/test/in-memory.ts';
import { CommentFeed } from '../src/comments/comment-feed.ts';
import { OwnStates } from '../src/own/own-states.ts';
import { ConnectionCounts } from '../src/protocol/connection-counts.ts';
import { ConnectionMemoryBudget } from '../src/protocol/connection-memory-budget.ts';
import { ReplayPlaces } from '../src/protocol/replay-places.ts';
import { StartScheduler } from '../src/protocol/start-scheduler.io.ts';
import { StreamHub } from '../src/protocol/stream-hub.io.ts';
import { StreamListener } from '../src/protocol/stream-listener.io.ts';
import { QueuedTotal } from '../src/protocol/stream-writer.io.ts';
import type { ResumeResult } from '../src/protocol/subscription-starter.io.ts';
import { FakeFeed } from './fake-feed.ts';
import { StreamClient } from './stream-client.ts';

const holder: KeyHolder = {
  apiKey: apiKey(1),
  wallet: wallet(1),
  selfTrade: 'CANCEL_NEWEST' as KeyHolder['selfTrade'],
  covers: { ...coversNothing, query: true },
};
/** Longest time in which a failing proof is tried again. */
const proofWaitMs = 3_000;
export const goodHeaders = { SERVICE_SIGNATURE: 'good' };

/** The stream service over a fake feed on a real socket. */
export class StreamWorld {
  readonly feed = new FakeFeed([1, 2, 3]);
  readonly catalog = new Catalog();
  readonly room: ConnectionMemoryBudget;
  readonly counts: ConnectionCounts;
  readonly places = new ReplayPlaces();
  readonly queued = new QueuedTotal(1 << 29);
  readonly resumes: ResumeResult[] = [];
  readonly comments = new CommentFeed(new CommentThreads(), this.catalog);
  readonly ownStates: OwnStates;
  readonly closes: (StreamCloseName | 'left')[] = [];
  /** Moves the clocks of the service. */
  aheadMs = 0;
  isKeyActive = true;
  isKeyKnown = true;
  held = 0;
  /** Proves the holder of every key by a signature that is "good", unless a test has another one. */
  verify: KeyVerifier = ({ headers }) => (headers['service_signature'] === 'good' ? holder : null);
  /** Proofs that were tried. */
  proofs = 0;
  readonly hub: StreamHub;
  readonly listener: StreamListener;
  url = '';

  constructor(
    queueBytes?: number,
    roomBytes: number = 1 << 29,
    ownStates = new OwnStates(new TransferTotals(new MemoryTransfers())),
  ) {
    this.ownStates = ownStates;
    this.room = new ConnectionMemoryBudget(roomBytes);
    this.counts = new ConnectionCounts(this.room);
    this.catalog.apply(eventEntry('1'));
    for (const market of [1, 2, 3]) this.catalog.apply(marketEntry(market));
    const clock = {
      nowMs: () => Date.now() + this.aheadMs,
      monotonicMs: () => performance.now() + this.aheadMs,
    };
    this.hub = new StreamHub(
      {
        feed: this.feed,
        facts: { catalog: this.catalog, profiles: new Profiles(), secret: Buffer.alloc(32, 1) },
        comments: this.comments,
        ownStates: this.ownStates,
        room: this.room,
        counts: this.counts,
        openings: new StartScheduler(clock, silentLog),
        places: this.places,
        resumed: (outcome) => this.resumes.push(outcome),
        queued: this.queued,
        verify: (request) => {
          this.proofs += 1;
          return this.isKeyKnown ? this.verify(request) : null;
        },
        isActive: () => this.isKeyActive,
        keepAlives: {
          hold: () => {
            this.held += 1;
            return {
              release: () => {
                this.held -= 1;
              },
            };
          },
        },
        clock,
        log: silentLog,
        ...(queueBytes === undefined ? {} : { queueBytes }),
        onClosed: (reason) => this.closes.push(reason),
      },
      100,
    );
    this.listener = new StreamListener({
      trustedProxies: ['127.0.0.1'],
      counts: this.counts,
      clock,
      log: silentLog,
      compresses: false,
      take: { own: this.hub.add.bind(this.hub), family: null },
      onRefused: (reason) => this.closes.push(reason),
    });
  }

  async start(): Promise<this> {
    const port = await this.listener.listen('127.0.0.1', 0);
    this.url = `ws://127.0.0.1:${port}/v1/stream`;
    return this;
  }

  async open(headers: Record<string, string> = {}): Promise<StreamClient> {
    const client = await StreamClient.open(this.url, headers);
    await client.of('welcome');
    return client;
  }

  /** After an `auth` frame was sent: the time passes in which a proof that fails is tried again. */
  async proofTimePasses(): Promise<void> {
    const { proofs } = this;
    while (this.proofs === proofs) await wait(1);
    this.aheadMs += proofWaitMs;
  }

  async close(): Promise<void> {
    this.hub.close();
    await this.listener.close();
  }
}
