/** Style of the page that shows the description of the API. */
export const descriptionStyle = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; color: #1b1f24; background: #fff; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem; }
details { border: 1px solid #d0d7de; border-radius: 6px; margin: .3rem 0; padding: .3rem .6rem; }
summary { cursor: pointer; }
code, pre { font: 13px/1.4 ui-monospace, monospace; }
pre { background: #f6f8fa; padding: .6rem; overflow: auto; max-height: 24rem; }
table { border-collapse: collapse; }
td, th { border: 1px solid #d0d7de; padding: .2rem .5rem; text-align: left; vertical-align: top; }
.method { display: inline-block; width: 4.6rem; font-weight: 600; }
`;

/** Its script: reads `openapi.json` beside it and writes text only, never markup. */
export const descriptionScript = `
const main = document.querySelector('main');
const element = (name, children = [], attributes = {}) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...[children].flat());
  return made;
};
const resolved = (api, part) =>
  part.$ref === undefined ? part : part.$ref.split('/').slice(1).reduce((inside, name) => inside[name], api);
const json = (value) => element('pre', JSON.stringify(value, null, 2));
const row = (cells, kind = 'td') => element('tr', cells.map((cell) => element(kind, cell)));
const formOf = ({ type, pattern, enum: values, items }) =>
  values ? values.join(' | ') : items ? 'list of ' + formOf(items) : (pattern ?? type ?? 'any');
const block = (title, parts) => [element('h4', title), ...parts];
const contentOf = (api, { content = {} }) =>
  Object.entries(content).flatMap(([type, { schema, example }]) => [
    element('p', element('code', type)),
    ...(example === undefined ? [] : [json(example)]),
    element('details', [element('summary', 'Schema'), json(expanded(api, schema, 3))]),
  ]);
const expanded = (api, schema, depth) => {
  if (Array.isArray(schema)) return schema.map((one) => expanded(api, one, depth));
  if (typeof schema !== 'object' || schema === null) return schema;
  if (schema.$ref !== undefined && depth === 0) return schema;
  const part = resolved(api, schema);
  const left = depth - (part === schema ? 0 : 1);
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, expanded(api, one, left)]));
};
const parametersOf = (api, { parameters = [] }) => parameters.length === 0 ? [] : block('Parameters', [
  element('table', [
    row(['name', 'in', 'form', ''], 'th'),
    ...parameters.map((one) => resolved(api, one)).map((one) =>
      row([one.name + (one.required ? ' *' : ''), one.in, formOf(resolved(api, one.schema)), one.description ?? ''])),
  ]),
]);
const securityOf = ({ security = [] }) =>
  security.map((one) => Object.keys(one).join(' + ') || 'none').join(', or ');
const detailsOf = (api, operation) => [
  ...(operation.description ? [element('p', operation.description)] : []),
  element('p', 'Proof: ' + securityOf(operation)),
  ...(operation.servers ? [element('p', 'Served under ' + operation.servers.map(({ url }) => url).join(', '))] : []),
  element('p', 'Limits: ' + (operation['x-rate-limits'] ?? []).join(', ')),
  ...parametersOf(api, operation),
  ...(operation.requestBody ? block('Body', contentOf(api, operation.requestBody)) : []),
  ...Object.entries(operation.responses).map(([status, response]) => [status, resolved(api, response)])
    .flatMap(([status, response]) => [
      element('details', [element('summary', status + ' ' + response.description), ...contentOf(api, response)],
        { open: status === '200' }),
    ]),
];
const operationOf = (api, path, method, operation) => {
  const made = element('details', element('summary', [
    element('span', method.toUpperCase(), { className: 'method' }), element('code', path), ' ' + operation.summary,
  ]), { id: operation.operationId });
  made.addEventListener('toggle', () => {
    if (made.childElementCount === 1) made.append(...detailsOf(api, operation));
  });
  made.dataset.text = (method + ' ' + path + ' ' + operation.summary).toLowerCase();
  return made;
};
const show = (api) => {
  const all = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      tag: operation.tags[0], node: operationOf(api, path, method, operation),
    })));
  const sections = api.tags.map(({ name }) => element('section', [
    element('h2', name), ...all.filter(({ tag }) => tag === name).map(({ node }) => node),
  ]));
  const search = element('input', [], { type: 'search', placeholder: 'Find a route' });
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(' ');
    for (const { node } of all) node.hidden = !words.every((word) => node.dataset.text.includes(word));
    for (const section of sections) section.hidden = !section.querySelector('details[id]:not([hidden])');
  });
  document.title = api.info.title;
  main.replaceChildren(
    element('h1', api.info.title + ' ' + api.info.version), element('p', api.info.description),
    element('p', element('a', 'openapi.json', { href: 'openapi.json' })), search, ...sections);
  const wanted = document.getElementById(location.hash.slice(1));
  if (wanted) { wanted.open = true; wanted.scrollIntoView(); }
};
fetch('openapi.json').then((answer) => answer.json()).then(show, (error) => {
  main.replaceChildren(element('p', 'openapi.json cannot be read: ' + error.message));
});
`;
