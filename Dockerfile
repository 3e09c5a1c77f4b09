# PostgreSQL with pg_mint, from the Debian package that `make package` builds, or that of a release,
# in DIRECTORY, for the Debian of the image:
#   docker build --build-arg PG=18 --build-context packages=DIRECTORY -t postgres-pg-mint:18 .
# Not run by this project's tests.
ARG PG=18
FROM postgres:${PG}
ARG PG
RUN --mount=type=bind,from=packages,target=/packages \
    apt-get update && \
    apt-get install -y --no-install-recommends /packages/*postgresql-${PG}-pg-mint_*_$(dpkg --print-architecture).deb && \
    rm -rf /var/lib/apt/lists/*
LABEL org.opencontainers.image.title="PostgreSQL with pg_mint" \
      org.opencontainers.image.licenses="PostgreSQL"
