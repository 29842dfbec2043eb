# memplan as a container: the service by default, or any other command of memplan.
#
#   docker build -t memplan .
#   docker run --rm -p 127.0.0.1:8080:8080 -e MEMPLAN_TOKENS="$TOKENS" -v memplan-data:/data --read-only --tmpfs /tmp memplan
#
# Without MEMPLAN_TOKENS it refuses to start, unless MEMPLAN_ANONYMOUS=1 says that anybody may use it (docs/service.md).

FROM python:3.13-slim-bookworm AS build
RUN apt-get update && apt-get install --no-install-recommends -y g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY requirements/ requirements/
RUN python -m venv /build && /build/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements/build.txt
RUN python -m venv --without-pip /opt/memplan && /build/bin/pip --python /opt/memplan/bin/python install --no-cache-dir --require-hashes --only-binary :all: -r requirements/postgresql.txt -r requirements/cluster.txt
COPY pyproject.toml CMakeLists.txt README.md LICENSE ./
COPY api/ api/
COPY memplan/ memplan/
COPY planner/ planner/
COPY solvers/ solvers/
RUN PATH="/build/bin:$PATH" /build/bin/pip wheel --no-deps --no-build-isolation --no-index --wheel-dir /wheels .
RUN /build/bin/pip --python /opt/memplan/bin/python install --no-deps --no-index --no-compile /wheels/*.whl
# Where the root file system is read-only, no byte code can be written later. And without its native kernels memplan would be a hundred times slower.
RUN /opt/memplan/bin/python -m compileall -q /opt/memplan/lib && MEMPLAN_KERNELS=native /opt/memplan/bin/memplan doctor

FROM python:3.13-slim-bookworm
RUN apt-get update && apt-get install --no-install-recommends -y coinor-cbc tini && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin memplan && install --directory --owner memplan --group memplan /data
# Where the root file system is not read-only, its user still writes nowhere but into /data and /tmp.
RUN find / -xdev -type d -perm -o+w ! -path /tmp -exec chmod o-w {} +
COPY --from=build /opt/memplan /opt/memplan
COPY docker/healthcheck.py /opt/memplan/healthcheck.py
ENV PATH="/opt/memplan/bin:$PATH" PYTHONDONTWRITEBYTECODE=1 MEMPLAN_HOST=0.0.0.0 MEMPLAN_PORT=8080 MEMPLAN_DATA_DIR=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["/opt/memplan/bin/python", "/opt/memplan/healthcheck.py"]
ENTRYPOINT ["/usr/bin/tini", "--", "/opt/memplan/bin/memplan"]
CMD ["serve"]
