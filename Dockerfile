FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev

FROM node:24-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production FAULTLINE_HOST=0.0.0.0 DATA_DIR=/data
COPY --from=packages /app/node_modules ./node_modules
COPY package.json ./
COPY src ./src
COPY handlers ./handlers
COPY templates ./templates
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK CMD ["node", "-e", "fetch('http://127.0.0.1:3000/healthz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# A third less memory at the same speed: garbage is collected before it is much.
# https://nodejs.org/docs/latest-v24.x/api/cli.html#--max-semi-space-sizesize-in-mib
ENTRYPOINT ["node", "--max-semi-space-size=4", "src/cli.ts"]
CMD ["serve"]
