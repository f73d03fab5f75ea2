// Shows the description of the API with requests to try. Requests that need a proof are refused: no key is kept here.
window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  // Nothing is sent to other servers.
  validatorUrl: null,
});
