# One image for all programs of the exchange: `docker build -t prediction-exchange .` (docs/operating/containers.md).
ARG NODE_IMAGE=node:22.23.3-bookworm-slim

FROM ${NODE_IMAGE} AS build
# A registry of packages of your own, if you have one.
ARG NPM_CONFIG_REGISTRY
WORKDIR /src
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund
# `on` adds the 543 MB that `tools export` needs.
ARG EXPORT=
RUN node_modules/.bin/tsc -b ingress matcher projectors query-api mcp console deploy operate \
  && node console/build.mjs \
  && node deploy/bundle.mjs \
  && node deploy/image.mjs /exchange ${EXPORT:+--with-export} \
  # Volumes begin with the owner of the folder that they are mounted on.
  && mkdir -p /state/installation /state/snapshots /state/store /state/streams /run-exchange \
  && for name in ingress operator matcher projectors query-api streams redis clickhouse grafana setup demo; \
     do mkdir -p "/state/secrets/$name"; done

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    NODE_OPTIONS="--max-semi-space-size=32 --max-old-space-size=192"
WORKDIR /exchange
COPY --from=build /exchange /exchange
COPY --from=build --chown=10001:10001 /state /var/lib/exchange
COPY --from=build --chown=10001:10001 /run-exchange /run/exchange
USER 10001:10001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=15m --retries=6 CMD ["bash", "/exchange/serving.sh"]
ENTRYPOINT ["node", "/exchange/start.mjs"]
