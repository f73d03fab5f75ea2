import type { KeyHolder } from '@pm/domain/accounts/key-verifier';
import { type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import { type StreamCloseName, streamErrors } from '@pm/schemas/streams/codes';
import { streamLimits } from '@pm/schemas/streams/limits';
import type { OwnChange, OwnFill } from '../feed/changes.ts';
import { countedPartitions } from '../feed/counted-partitions.ts';
import type { FeedRecord } from '../feed/feed.io.ts';
import { keptBytes, type RoomShare, textBytes } from '../protocol/connection-memory-budget.ts';
import { KeyProof } from '../protocol/key-proof.io.ts';
import type { StreamSocket } from '../protocol/stream-socket.io.ts';
import type { FamilyConnection, FamilyParts, Opened } from './family-connection.io.ts';
import { type FamilyReader, FamilySocket } from './family-socket.io.ts';
import type { SharedMessage } from './market-messages.ts';
import { OwnOrders } from './own-orders.ts';
import { readUserFrame, type UserFrame } from './read-family-frame.ts';
import { fillRow, orderMessage, tradeMessage, type UserViewer } from './user-messages.ts';

/** A wallet that has readers. */
interface ReadWallet {
  readonly wallet: WalletAddress;
  readonly readers: Set<UserConnection>;
  readonly orders: OwnOrders;
  /** Memory of the wallet's orders, counted at the address of its first reader: only holders of its keys read it. */
  readonly share: RoomShare;
}

/** All connections of `/ws/user`, by the wallets that their keys trade from. */
export class UserStream {
  readonly #parts: FamilyParts;
  readonly #wallets = new Map<WalletAddress, ReadWallet>();
  #messages = 0;

  constructor(parts: FamilyParts) {
    this.#parts = parts;
  }

  get messages(): number {
    return this.#messages;
  }

  open(socket: StreamSocket, opened: Opened): FamilyConnection {
    return new UserConnection(socket, this.#parts, { stream: this, ...opened });
  }

  /** Steps of orders and trades in the order of the log; at the end the trades again, as confirmed. */
  record({ changes }: FeedRecord): void {
    const confirmed: (() => void)[] = [];
    for (const change of changes) {
      if (change.channel !== 'own') continue;
      const read = this.#wallets.get(change.wallet);
      if (read === undefined) continue;
      const { change: content, at } = change;
      if (content.kind === 'fill') {
        this.#sendTrade(read, { at, content }, 'MATCHED');
        confirmed.push(() => this.#sendTrade(read, { at, content }, 'CONFIRMED'));
      }
      const { catalog } = this.#parts;
      for (const step of read.orders.take(change)) {
        this.#send(read, step.order.order.market, (viewer) =>
          orderMessage(step, { catalog, viewer, timeMs: at.timeMs }),
        );
      }
    }
    for (const send of confirmed) send();
  }

  /** Reads of the wallets begin; false while a partition is not caught up. */
  subscribe(connection: UserConnection, wallets: Iterable<WalletAddress>): boolean {
    const { feed, room } = this.#parts;
    if (countedPartitions(feed.partitions()) === null) return false;
    for (const wallet of wallets) {
      const read = this.#wallets.get(wallet) ?? this.#open(wallet, room.share(connection.address));
      read.readers.add(connection);
    }
    return true;
  }

  #open(wallet: WalletAddress, share: RoomShare): ReadWallet {
    const read = {
      wallet,
      readers: new Set<UserConnection>(),
      orders: new OwnOrders(wallet, share),
      share,
    };
    this.#wallets.set(wallet, read);
    return read;
  }

  drop(connection: UserConnection, wallets: Iterable<WalletAddress>): void {
    for (const wallet of wallets) {
      const read = this.#wallets.get(wallet);
      read?.readers.delete(connection);
      if (read?.readers.size !== 0) continue;
      this.#wallets.delete(wallet);
      read.share.close();
    }
  }

  #sendTrade(
    read: ReadWallet,
    { at, content }: { readonly at: OwnChange['at']; readonly content: OwnFill },
    status: 'MATCHED' | 'CONFIRMED',
  ): void {
    const row = fillRow(content, at);
    const { catalog } = this.#parts;
    const taker = walletFromBytes(content.fill.taker);
    const frameOf = (viewer: UserViewer) => ({ catalog, viewer, timeMs: at.timeMs });
    this.#send(
      read,
      content.fill.market,
      (viewer) => tradeMessage(row, status, frameOf(viewer)),
      // A trade between two wallets of one caller is one trade, the taker's.
      ({ wallets, keys }) =>
        content.role === 'taker' || !wallets.has(taker) || !keys.has(row.takerKey),
    );
  }

  #send(
    { readers }: ReadWallet,
    market: number,
    render: (viewer: UserViewer) => SharedMessage,
    isFor: (viewer: UserViewer) => boolean = () => true,
  ): void {
    const condition = this.#parts.catalog.market(market)?.conditionId ?? '';
    const byKey = new Map<string, SharedMessage>();
    for (const connection of [...readers]) {
      const { viewer } = connection;
      if (viewer === null || !connection.wants(condition) || !isFor(viewer)) continue;
      const known = byKey.get(viewer.apiKey);
      const message = known ?? render(viewer);
      if (known === undefined) this.#messages += 1;
      byKey.set(viewer.apiKey, message);
      connection.send(message);
    }
  }
}

const bytesOf = (id: string): number => keptBytes.namedMarket + textBytes(id);

/** One connection of `/ws/user`. */
class UserConnection implements FamilyReader, FamilyConnection {
  readonly #parts: FamilyParts;
  readonly #stream: UserStream;
  readonly onClosed: FamilyConnection['onClosed'];
  readonly address: string;
  readonly #socket: FamilySocket;
  readonly #proof: KeyProof;
  readonly #share: RoomShare;
  /** Condition ids; empty for all. */
  readonly #markets = new Set<string>();
  #wallets: readonly WalletAddress[] = [];
  #viewer: UserViewer | null = null;

  constructor(
    socket: StreamSocket,
    parts: FamilyParts,
    { stream, address, onClosed }: Opened & { readonly stream: UserStream },
  ) {
    this.address = address;
    this.#parts = parts;
    this.#stream = stream;
    this.onClosed = onClosed;
    this.#socket = new FamilySocket(socket, parts, this);
    this.#proof = new KeyProof(parts.clock);
    this.#share = parts.room.share(address);
  }

  get viewer(): UserViewer | null {
    return this.#viewer;
  }

  get subscriptions(): number {
    return this.#viewer === null ? 0 : Math.max(1, this.#markets.size);
  }

  /** The orders of a wallet may be in any partition. */
  reads(): boolean {
    return this.#viewer !== null;
  }

  wants(condition: string): boolean {
    return this.#markets.size === 0 || this.#markets.has(condition);
  }

  close(name: StreamCloseName): void {
    this.#socket.close(name);
  }

  /** A contract wallet that has a key of its own by now is not the caller's any more. */
  tick(): void {
    if (!this.#socket.tick()) return;
    const { holder } = this.#socket;
    if (holder === null || this.#viewer === null) return;
    const wallets = new Set(this.#parts.walletsOf(holder.wallet));
    if (this.#wallets.some((wallet) => !wallets.has(wallet))) this.#socket.close('notAuthorized');
  }

  send(message: SharedMessage): void {
    this.#socket.send(message);
  }

  ended(reason: StreamCloseName | 'left'): void {
    this.#proof.stop();
    this.#share.close();
    this.#stream.drop(this, this.#wallets);
    this.onClosed(this, reason);
  }

  take(object: object): boolean {
    const frame = readUserFrame(object);
    if (frame === null) return false;
    if (this.#viewer === null && !this.#proof.isWaiting) this.#authenticate(frame);
    this.#filter(frame);
    return true;
  }

  /** A frame without markets means all; removing the last one means all again, as published clients rely on. */
  #filter({ action, markets }: UserFrame): void {
    if (action === 'subscribe' && (markets === null || markets.length === 0))
      for (const id of this.#markets) this.#removeMarket(id);
    for (const id of markets ?? []) {
      if (action === 'unsubscribe') this.#removeMarket(id);
      else if (!this.#markets.has(id) && !this.#addMarket(id)) break;
    }
  }

  #removeMarket(id: string): void {
    if (this.#markets.delete(id)) this.#share.giveBack(bytesOf(id));
  }

  #addMarket(id: string): boolean {
    const isTooMany = this.#markets.size >= streamLimits.subscriptions_per_connection;
    const refusal = isTooMany ? 'too_many_subscriptions' : this.#share.take(bytesOf(id));
    if (refusal === null) this.#markets.add(id);
    else this.#socket.sendError(streamErrors[refusal].message);
    return refusal === null;
  }

  #authenticate({ auth }: UserFrame): void {
    if (auth === null) {
      this.#socket.refuseCredentials();
      return;
    }
    this.#proof.start(() => this.#parts.verifyCredentials(auth), {
      proven: (holder) => this.#read(holder),
      unproven: () => this.#socket.refuseCredentials(),
    });
  }

  #read(holder: KeyHolder): void {
    const { walletsOf, keysOf } = this.#parts;
    if (!this.#socket.hold(holder)) return;
    const wallets = walletsOf(holder.wallet);
    const refusal = this.#share.take(wallets.length * keptBytes.wallet);
    if (refusal !== null) {
      this.#socket.sendError(streamErrors[refusal].message);
      this.#socket.close('tooManyConnections');
      return;
    }
    if (!this.#stream.subscribe(this, wallets)) {
      this.#socket.close('logAway');
      return;
    }
    this.#wallets = wallets;
    const { apiKey, wallet } = holder;
    this.#viewer = { apiKey, keys: keysOf(wallet), wallets: new Set(wallets) };
    this.#socket.noteSubscribed(true);
  }
}
