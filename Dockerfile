# A static binary in an image without shell and packages.
#
#     docker build --tag pkgres .
#     docker run --rm --volume "$PWD:/work:ro" pkgres check
#     docker run --publish 8642:8642 --volume registry:/data pkgres serve --data /data --listen 0.0.0.0:8642

FROM rust:1.95-alpine AS build
# A C compiler for SQLite and the cryptography of TLS.
RUN apk add --no-cache build-base=~0.5
WORKDIR /source
COPY . .
RUN cargo build --release --locked --package pkgres \
    && mkdir -p /image/data /image/work \
    && cp target/release/pkgres /image/pkgres

FROM gcr.io/distroless/static-debian12:nonroot
LABEL org.opencontainers.image.source="https://github.com/pkgres/pkgres" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /image/pkgres /usr/bin/pkgres
# `nobody` owns the folder for data, so that a new volume can be written to.
COPY --from=build --chown=65534:65534 /image/data /data
COPY --from=build --chown=65534:65534 /image/work /work
USER 65534:65534
WORKDIR /work
# Programs that run as nobody have no home.
ENV PKGRES_CACHE=/tmp/pkgres PKGRES_STATE=/tmp/pkgres-state
EXPOSE 8642
ENTRYPOINT ["/usr/bin/pkgres"]
CMD ["--help"]
