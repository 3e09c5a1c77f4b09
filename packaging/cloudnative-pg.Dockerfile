# The extension alone, for CloudNativePG's image volumes (PostgreSQL 18 and later):
#   docker build -f packaging/cloudnative-pg.Dockerfile --build-arg PG=18 --build-context packages=DIRECTORY .
# Not run by this project's tests.
ARG PG=18
FROM debian:stable-slim AS unpacked
ARG PG
RUN --mount=type=bind,from=packages,target=/packages \
    dpkg-deb -x /packages/*postgresql-${PG}-pg-mint_*_$(dpkg --print-architecture).deb /unpacked && \
    mkdir -p /image/lib /image/share /image/licenses && \
    cp -r /unpacked/usr/lib/postgresql/${PG}/lib/. /image/lib/ && \
    cp -r /unpacked/usr/share/postgresql/${PG}/extension /image/share/ && \
    cp /unpacked/usr/share/doc/postgresql-${PG}-pg-mint/copyright /image/licenses/pg_mint && \
    cp /unpacked/usr/share/doc/postgresql-${PG}-pg-mint/NOTICE* /image/licenses/
FROM scratch
COPY --from=unpacked /image/ /
USER 65532:65532
