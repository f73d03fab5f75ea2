/** One query of a panel, with the legend of its series in Grafana's form, e.g. `{{partition}}`. */
export interface Query {
  readonly expr: string;
  readonly legend: string;
}

/** A panel of a dashboard; half the width of the page. */
export interface Panel {
  readonly title: string;
  /** Unit of Grafana: `s`, `reqps`, `ops`, `percentunit`, `bytes`, `short`. */
  readonly unit: 's' | 'reqps' | 'ops' | 'percentunit' | 'bytes' | 'short';
  readonly description: string;
  readonly queries: readonly Query[];
  /** A number of now in place of a curve. */
  readonly kind?: 'stat';
}

export interface Dashboard {
  /** Name of its file and its id in Grafana. */
  readonly name: string;
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** The variable `datasource` of the page. */
const datasource = { type: 'prometheus', uid: '$datasource' } as const;

const panelWidth = 12;
const panelHeight = 8;
const schemaVersion = 39;

/** The dashboard as Grafana imports and provisions it; the data source is chosen on the page. */
export function grafanaOf({ name, title, panels }: Dashboard): object {
  return {
    uid: `exchange-${name}`,
    title,
    tags: ['exchange'],
    schemaVersion,
    editable: true,
    refresh: '10s',
    time: { from: 'now-1h', to: 'now' },
    timezone: 'utc',
    templating: {
      list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }],
    },
    panels: panels.map(panelOf),
  };
}

function panelOf({ title, unit, description, queries, kind }: Panel, index: number): object {
  return {
    id: index + 1,
    type: kind ?? 'timeseries',
    title,
    description,
    datasource,
    gridPos: {
      x: (index % 2) * panelWidth,
      y: Math.floor(index / 2) * panelHeight,
      w: panelWidth,
      h: panelHeight,
    },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: queries.map(({ expr, legend }, at) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + at),
      datasource,
      expr,
      legendFormat: legend,
    })),
  };
}
