import type { PublicProfile } from '@pm/schemas/http/comments';
import {
  checksumAddress,
  parseWalletAddress,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas/ids';
import { type Profile, profilesHeldMax } from '@pm/schemas/log/profiles';

/** Fields that the holder of a wallet states in its profile. */
type Said = Pick<Profile, 'name' | 'bio' | 'image' | 'xName' | 'showName' | 'createdAtMs'>;

/** How wallets are shown, from the compacted topic `profiles`. */
export class Profiles {
  readonly #said = new Map<WalletAddress, Said>();
  readonly #byName = new Map<string, Set<WalletAddress>>();

  #version = 0;

  /** Another number after every change. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#said.size;
  }

  apply({ wallet, name, bio, image, xName, showName, createdAtMs }: Profile): void {
    const address = walletFromBytes(wallet);
    this.#version += 1;
    this.#unname(address);
    if (this.#said.size >= profilesHeldMax && !this.#said.has(address)) return;
    this.#said.set(address, { name, bio, image, xName, showName, createdAtMs });
    if (!showName || name === '') return;
    const holders = this.#byName.get(keyOf(name)) ?? new Set();
    this.#byName.set(keyOf(name), holders.add(address));
  }

  /** Wallets shown under this name, in any case of letters. */
  named(name: string): readonly WalletAddress[] {
    return [...(this.#byName.get(keyOf(name)) ?? [])];
  }

  /** When the profile was first set, Unix milliseconds; null when it never was. */
  createdAtMs(wallet: WalletAddress): number | null {
    return this.#said.get(wallet)?.createdAtMs ?? null;
  }

  /** Name at X; null when none is given. */
  xName(wallet: WalletAddress): string | null {
    const name = this.#said.get(wallet)?.xName ?? '';
    return name === '' ? null : name;
  }

  /** A wallet as shown; one that never said anything has its pseudonym only. `address` is lower case. */
  of(address: string): PublicProfile {
    const wallet = parseWalletAddress(address);
    if (wallet === null) return withoutProfile(address);
    const said = this.#said.get(wallet);
    return {
      name: said?.showName === true ? said.name : '',
      pseudonym: pseudonymOf(wallet),
      bio: said?.bio ?? '',
      proxyWallet: checksumAddress(wallet),
      profileImage: said?.image ?? '',
      displayUsernamePublic: said?.showName ?? true,
    };
  }

  #unname(wallet: WalletAddress): void {
    const known = this.#said.get(wallet);
    if (known === undefined) return;
    const holders = this.#byName.get(keyOf(known.name));
    holders?.delete(wallet);
    if (holders?.size === 0) this.#byName.delete(keyOf(known.name));
  }
}

function withoutProfile(proxyWallet: string): PublicProfile {
  const texts = { name: '', pseudonym: '', bio: '', profileImage: '' };
  return { ...texts, proxyWallet, displayUsernamePublic: true };
}

function keyOf(name: string): string {
  return name.toLowerCase();
}

/**
 * Words of the pseudonyms; 64 of each, so that six bits choose one. Their order is part of the wire: never change it.
 */
const adjectives = `
amber ancient arctic autumn bold brave bright bronze calm candid clever copper coral crimson curious dapper daring
distant eager early elegant emerald fabled fearless fluent gentle golden graceful hidden honest humble indigo ivory
jolly keen kindly lively lucid lunar mellow merry modest nimble noble olive patient placid polished proud quick quiet
radiant rapid rustic serene silent silver solar steady stellar swift tidal vivid wandering`;
const nouns = `
albatross antelope badger beacon bison breeze canyon cedar comet condor cormorant cove cypress delta dolphin dune
eagle ember falcon fern fjord forest fox gazelle geyser glacier grove harbor hawk heron ibex island jaguar juniper
kestrel lagoon lantern leopard lynx maple marten meadow meteor mountain nebula ocelot orchard osprey otter panther
pelican pine plateau puffin raven reef ridge river sparrow summit thicket tundra walrus willow`;

const wordsOf = (text: string): readonly string[] => text.trim().split(/\s+/);
const [first, second] = [wordsOf(adjectives), wordsOf(nouns)];

/** How a wallet without a name is shown: two words and a number that follow from the address, the same for ever. */
export function pseudonymOf(wallet: WalletAddress): string {
  const bits = Number.parseInt(wallet.slice(-6), 16);
  const adjective = first[bits & 63] ?? '';
  const noun = second[(bits >> 6) & 63] ?? '';
  return `${capital(adjective)}-${capital(noun)}-${(bits >> 12) & 0xfff}`;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
