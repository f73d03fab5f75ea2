import type { WalletAddress } from '@pm/schemas';

/** Words of the pseudonyms; 64 of each, so that six bits choose one. Their order is part of the wire: never change it. */
const adjectives = `
amber ancient arctic autumn bold brave bright bronze calm candid clever copper coral crimson curious dapper daring
distant eager early elegant emerald fabled fearless fluent gentle golden graceful hidden honest humble indigo ivory jolly
keen kindly lively lucid lunar mellow merry modest nimble noble olive patient placid polished proud quick quiet radiant
rapid rustic serene silent silver solar steady stellar swift tidal vivid wandering`;
const nouns = `
albatross antelope badger beacon bison breeze canyon cedar comet condor cormorant cove cypress delta dolphin dune eagle
ember falcon fern fjord forest fox gazelle geyser glacier grove harbor hawk heron ibex island jaguar juniper kestrel
lagoon lantern leopard lynx maple marten meadow meteor mountain nebula ocelot orchard osprey otter panther pelican pine
plateau puffin raven reef ridge river sparrow summit thicket tundra walrus willow`;

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
