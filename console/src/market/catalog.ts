/** A market as GET /gamma/markets and the events of GET /gamma/events list it; lists are JSON texts there. */
export interface WireMarket {
  readonly id: string;
  readonly question: string;
  /** The question in short, beside the title of its event. */
  readonly groupItemTitle?: string;
  readonly conditionId: string;
  readonly slug: string;
  readonly clobTokenIds: string;
  readonly outcomes: string;
  readonly outcomePrices?: string;
  readonly image?: string;
  readonly description?: string;
  readonly endDate?: string;
  readonly closed?: boolean;
  readonly orderPriceMinTickSize?: number;
  readonly orderMinSize?: number;
  readonly negRisk?: boolean;
  readonly acceptingOrders?: boolean;
  readonly volumeNum?: number;
  readonly volume24hr?: number;
  readonly bestBid?: number | null;
  readonly bestAsk?: number | null;
  readonly lastTradePrice?: number | null;
}

export interface WireEvent {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly description?: string;
  readonly image?: string;
  readonly endDate?: string;
  readonly closed?: boolean;
  readonly volume?: number;
  readonly volume24hr?: number;
  readonly liquidity?: number;
  readonly markets?: readonly WireMarket[];
}

export interface Market {
  readonly conditionId: string;
  readonly question: string;
  /** Short name within its event, or the question where there is none. */
  readonly label: string;
  readonly tokens: readonly [string, string];
  readonly outcomes: readonly [string, string];
  /** Price of the first outcome; null when it was never quoted. */
  readonly price: number | null;
  /** USDC, decimal text. */
  readonly tick: string;
  readonly minSize: number;
  readonly isOpen: boolean;
  readonly volume: number;
  readonly description: string;
}

export interface MarketEvent {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly picture: string | null;
  readonly volume24h: number;
  readonly endDate: string | null;
  readonly markets: readonly Market[];
}

/** An event with its markets, the busiest first. Markets whose lists cannot be read are left out. */
export function eventOfWire(wire: WireEvent, origin: string): MarketEvent {
  const found = (wire.markets ?? []).map(marketOfWire).filter((market) => market !== null);
  return {
    id: wire.id,
    slug: wire.slug,
    title: wire.title,
    description: wire.description ?? '',
    picture: pictureOf(wire.image ?? '', origin),
    volume24h: wire.volume24hr ?? 0,
    endDate: wire.endDate ?? null,
    markets: found.sort((one, other) => other.volume - one.volume),
  };
}

/** Null when it has no two tokens. */
function marketOfWire(wire: WireMarket): Market | null {
  const tokens = textsOf(wire.clobTokenIds);
  const outcomes = textsOf(wire.outcomes);
  const [first, second] = tokens;
  if (first === undefined || second === undefined) return null;
  const shown = Number(textsOf(wire.outcomePrices ?? '[]')[0] ?? wire.lastTradePrice ?? Number.NaN);
  return {
    conditionId: wire.conditionId,
    question: wire.question,
    label: wire.groupItemTitle ?? wire.question,
    tokens: [first, second],
    outcomes: [outcomes[0] ?? 'Yes', outcomes[1] ?? 'No'],
    price: Number.isFinite(shown) ? shown : null,
    tick: String(wire.orderPriceMinTickSize ?? 0.01),
    minSize: wire.orderMinSize ?? 1,
    isOpen: wire.closed !== true && wire.acceptingOrders !== false,
    volume: wire.volumeNum ?? 0,
    description: wire.description ?? '',
  };
}

/**
 * A picture that the policy of the page allows: over https, or of this exchange, whose address may have another name
 * here. Null for others.
 */
export function pictureOf(image: string, origin: string): string | null {
  if (!URL.canParse(image, origin)) return null;
  const url = new URL(image, origin);
  if (url.pathname.startsWith('/demo/pictures/')) return url.pathname;
  return url.protocol === 'https:' || url.origin === origin ? url.href : null;
}

function textsOf(json: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value.map(String) : [];
  } catch {
    return [];
  }
}
