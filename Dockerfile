# PostgreSQL with pg_mint, from the Debian package that `make package` builds, or that of a release,
# in DIRECTORY, for the Debian of the image:
#   docker build --build-arg PG=18 --build-context packages=DIRECTORY -t postgres-pg-mint:18 .
# Where DIRECTORY has the packages of both processors, --platform linux/amd64,linux/arm64 builds both images.
# Its server runs as the user postgres, as that of the image below it. Not run by this project's tests.
ARG PG=18
FROM postgres:${PG}
ARG PG
ARG VERSION
ARG REVISION=
ARG SOURCE=
RUN --mount=type=bind,from=packages,target=/packages \
    apt-get update && \
    apt-get install -y --no-install-recommends /packages/*postgresql-${PG}-pg-mint_*_$(dpkg --print-architecture).deb && \
    rm -rf /var/lib/apt/lists/*
LABEL org.opencontainers.image.title="PostgreSQL with pg_mint" \
      org.opencontainers.image.description="PostgreSQL ${PG} with pg_mint ${VERSION}, which generates unique ids" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.base.name="docker.io/library/postgres:${PG}" \
      org.opencontainers.image.licenses="PostgreSQL"
