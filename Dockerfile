# The collection service, built from this checkout:  docker build -t dame .
# Every package comes from a lock file with hashes; nothing is compiled, and nothing of the build is in the image.

FROM python:3.13-slim AS build
WORKDIR /build
COPY deploy/build.lock deploy/requirements.lock ./deploy/
RUN python -m venv /opt/build \
    && /opt/build/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r deploy/build.lock \
    && python -m venv /opt/dame \
    && /opt/dame/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r deploy/requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN /opt/build/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels . \
    && /opt/dame/bin/pip install --no-cache-dir --no-deps --no-index /wheels/*.whl

FROM python:3.13-slim
COPY --from=build /opt/dame /opt/dame
ENV PATH=/opt/dame/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    DAME_HOST=0.0.0.0 \
    DAME_PORT=8000
# Nobody: no name, no home, no shell. The file system may be read-only; the service writes to its database only.
USER 10001:10001
WORKDIR /
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["python", "-m", "dame.service.probe"]
ENTRYPOINT ["dame"]
CMD ["serve"]
