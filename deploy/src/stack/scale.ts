import { holdFreePorts, type PortName, type Ports } from '../local/ports.ts';
import { StackError } from '../local/stack-error.ts';

/** Services that may have several processes side by side, with the ports of each process. */
const scaledPorts = {
  ingress: ['ingress', 'ingressOps'],
  matcher: ['matcherOps'],
  projectors: ['projectorsOps'],
  'query-api': ['queryApi', 'queryApiOps'],
  streams: ['streams', 'streamsOps'],
  gateway: ['gateway', 'gatewayOps'],
} as const satisfies Readonly<Record<string, readonly PortName[]>>;

export type ScaledService = keyof typeof scaledPorts;

/** Processes of each service; one of each that is not named. */
export type Scale = Readonly<Partial<Record<ScaledService, number>>>;

/** Processes of one service on this machine at most. */
const processesMax = 3;

const scaleText = /^([a-z-]+)=([1-9]\d?)$/;

/**
 * `ingress=2,matcher=3` as processes of services.
 *
 * @throws StackError BAD_DESCRIPTION for another form, an unknown service, one named twice, or too many processes.
 */
export function parseScale(text: string): Scale {
  const scale: Partial<Record<ScaledService, number>> = {};
  for (const item of text === '' ? [] : text.split(',')) {
    const [, service = '', count = ''] = scaleText.exec(item) ?? [];
    if (!isScaled(service) || service in scale || Number(count) > processesMax) {
      const names = Object.keys(scaledPorts).join(', ');
      const form = `SERVICE=PROCESSES, separated by commas, 1 to ${processesMax} of each of ${names}`;
      throw new StackError('BAD_DESCRIPTION', `--scale ${text}: ${item} is not ${form}`);
    }
    scale[service] = Number(count);
  }
  return scale;
}

function isScaled(name: string): name is ScaledService {
  return Object.hasOwn(scaledPorts, name);
}

/** One process of a service. */
export interface Place {
  /** From 1 on. */
  readonly number: number;
  /** `ingress`, `ingress-2`: its name among the processes of the stack. */
  readonly name: string;
  /** The ports of the stack, with those of this process. */
  readonly ports: Ports;
  /** The ports of this process: the public one if it has one, then that of health and metrics. */
  readonly own: readonly number[];
}

/** The processes of each service; the first one has the ports of the stack. */
export class Places {
  readonly #scale: Scale;
  readonly #ports: readonly Ports[];

  /** `ports`: of the first processes, of the second ones, ... */
  constructor(scale: Scale, ports: readonly Ports[]) {
    this.#scale = scale;
    this.#ports = ports;
  }

  of(service: ScaledService): readonly Place[] {
    return this.#ports.slice(0, this.#scale[service] ?? 1).map((ports, index) => {
      const number = index + 1;
      const own = scaledPorts[service].map((port) => ports[port]);
      return { number, name: numbered(service, number), ports, own };
    });
  }

  /** Processes besides the first one of each service. */
  get others(): readonly Place[] {
    const services = Object.keys(scaledPorts).filter(isScaled);
    return services.flatMap((service) => this.of(service).slice(1));
  }
}

/** The name of a process, or of what belongs to it, by its number. */
export function numbered(name: string, number: number): string {
  return number === 1 ? name : `${name}-${number}`;
}

/** Folders in a data folder of which each process of streams has one. */
export const streamsFolders: readonly string[] = Array.from({ length: processesMax }, (_, index) =>
  numbered('streams', index + 1),
);

/**
 * Places for as many processes. Those after the first have free ports, which change from start to start; none of them
 * is a port of the stack.
 */
export async function openPlaces(scale: Scale, ports: Ports): Promise<Places> {
  const most = Math.max(1, ...Object.values(scale));
  const names: readonly PortName[] = Object.values(scaledPorts).flat();
  const taken = new Set(Object.values(ports));
  const held = await holdFreePorts((most - 1) * names.length + taken.size);
  await held.release();
  const free = held.ports.filter((port) => !taken.has(port));
  const others = Array.from({ length: most - 1 }, (_, index) => {
    const own = names.map((name, at) => [name, free[index * names.length + at] ?? 0] as const);
    return { ...ports, ...Object.fromEntries(own) };
  });
  return new Places(scale, [ports, ...others]);
}
