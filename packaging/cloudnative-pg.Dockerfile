# The extension alone, for CloudNativePG's image volumes (PostgreSQL 18 and later), as the images of
# cloudnative-pg/postgres-extensions-containers are laid out:
#   docker build -f packaging/cloudnative-pg.Dockerfile --build-arg PG=18 --build-context packages=DIRECTORY .
# Where DIRECTORY has the packages of both processors, --platform linux/amd64,linux/arm64 builds both images, without an emulator.
# Its files are tested (pg_test/cluster/tests/stories/environment/image_volume.rs), the build of the image is not.
ARG PG=18
FROM --platform=$BUILDPLATFORM debian:stable-slim AS unpacked
ARG PG
ARG TARGETARCH
RUN --mount=type=bind,from=packages,target=/packages \
    dpkg-deb -x /packages/*postgresql-${PG}-pg-mint_*_${TARGETARCH}.deb /unpacked

FROM scratch
ARG PG
ARG VERSION
ARG REVISION=
ARG SOURCE=
COPY --from=unpacked /unpacked/usr/share/doc/postgresql-${PG}-pg-mint/copyright \
    /unpacked/usr/share/doc/postgresql-${PG}-pg-mint/NOTICE* /licenses/postgresql-${PG}-pg-mint/
COPY --from=unpacked /unpacked/usr/lib/postgresql/${PG}/lib/pg_mint.so /lib/
COPY --from=unpacked /unpacked/usr/share/postgresql/${PG}/extension/ /share/extension/
LABEL org.opencontainers.image.title="pg_mint ${VERSION} for PostgreSQL ${PG}" \
      org.opencontainers.image.description="The files of the extension pg_mint, which generates unique ids" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.base.name="scratch" \
      org.opencontainers.image.licenses="PostgreSQL" \
      io.cloudnativepg.image.base.pgmajor="${PG}"
USER 65532:65532
