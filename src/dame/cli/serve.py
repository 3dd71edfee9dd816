"""`dame serve`: the collection service."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from dame.cli import options, output
from dame.errors import MissingExtra

Database = Annotated[
    str,
    typer.Option(
        "--database", envvar="DAME_DATABASE", metavar="WHERE", help="A file (SQLite), or postgresql://user@host/name."
    ),
]
Host = Annotated[str, typer.Option("--host", envvar="DAME_HOST", metavar="ADDRESS", help="Where to listen.")]
Port = Annotated[
    str, typer.Option("--port", envvar="DAME_PORT", metavar="PORT", help="On which port; 0 takes a free one.")
]
OperatorKey = Annotated[
    str | None,
    typer.Option(
        "--operator-key",
        envvar="DAME_OPERATOR_KEY",
        metavar="SECRET",
        help="Who may create studies; needed beyond this machine. Better in the environment than on the line.",
    ),
]
PublicUrl = Annotated[
    str | None,
    typer.Option("--public-url", envvar="DAME_PUBLIC_URL", metavar="URL", help="What invitation links begin with."),
]
TrustedProxy = Annotated[
    str | None,
    typer.Option(
        "--trusted-proxy", envvar="DAME_TRUSTED_PROXY", metavar="ADDRESS", help="The proxy whose headers are believed."
    ),
]
RateLimit = Annotated[
    float,
    typer.Option("--rate-limit", envvar="DAME_RATE_LIMIT", help="Requests a second for each address; 0 for none."),
]
RefusalLimit = Annotated[
    float,
    typer.Option(
        "--refusal-limit", envvar="DAME_REFUSAL_LIMIT", help="Wrong secrets a second for each address; 0 for none."
    ),
]
MetricsKey = Annotated[
    str | None,
    typer.Option("--metrics-key", envvar="DAME_METRICS_KEY", metavar="SECRET", help="Who may read /metrics."),
]
StorageKey = Annotated[
    str | None,
    typer.Option(
        "--storage-key",
        envvar="DAME_STORAGE_KEY",
        metavar="SECRET[,…]",
        help="Seals the signing keys in the database; the newest first. Better in the environment than on the line.",
    ),
]
OtlpEndpoint = Annotated[
    str | None,
    typer.Option(
        "--otlp-endpoint",
        envvar=["DAME_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"],
        metavar="URL",
        help="Sends the metrics to an OpenTelemetry collector (HTTP); needs the extra `otlp`.",
    ),
]
HeaderTimeout = Annotated[
    float, typer.Option("--header-timeout", envvar="DAME_HEADER_TIMEOUT", help="Seconds for the head of a request.")
]
BodyTimeout = Annotated[
    float, typer.Option("--body-timeout", envvar="DAME_BODY_TIMEOUT", help="Seconds for the body of a request.")
]
MaxConnections = Annotated[
    int,
    typer.Option(
        "--max-connections",
        envvar="DAME_MAX_CONNECTIONS",
        help="Connections at once; 0 for as many as the system's limit of open files allows.",
    ),
]


def serve(
    database: Database = "dame.sqlite",
    host: Host = "127.0.0.1",
    port: Port = "8000",
    operator_key: OperatorKey = None,
    public_url: PublicUrl = None,
    trusted_proxy: TrustedProxy = None,
    rate_limit: RateLimit = 500.0,
    refusal_limit: RefusalLimit = 10.0,
    metrics_key: MetricsKey = None,
    storage_key: StorageKey = None,
    otlp_endpoint: OtlpEndpoint = None,
    header_timeout: HeaderTimeout = 10.0,
    body_timeout: BodyTimeout = 60.0,
    max_connections: MaxConnections = 0,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Serve studies to people's own devices: an API, a page to take part, and a page to watch.

    Logs are JSON lines on standard error; they hold no report, token or address. Stop it with Ctrl-C.

    Example: `dame serve --database study.sqlite`
    """
    options.seed_number(seed)  # secrets are never drawn from a seed
    try:
        from dame.service.logs import Log, log_everything
        from dame.service.server import configured, listen, run
        from dame.service.settings import Settings
    except ImportError:
        raise MissingExtra("the collection service", "service") from None
    settings = Settings(
        database=database,
        host=host,
        port=options.whole_number("port", port, 0, 65535),
        operator_key=operator_key,
        public_url=public_url,
        trusted_proxy=trusted_proxy,
        rate_limit=rate_limit,
        refusal_limit=refusal_limit,
        metrics_key=metrics_key,
        storage_key=storage_key,
        otlp_endpoint=otlp_endpoint,
        header_timeout=header_timeout,
        body_timeout=body_timeout,
        max_connections=max_connections,
    )

    def listening(address: str) -> None:
        if as_json:
            output.print_json({"listening": address, "database": database.partition("://")[0]})
        else:
            output.people.print(f"listening on {address}; the dashboard is {address}/dashboard", markup=False)
        sys.stdout.flush()

    with listen(settings) as opened:
        config = configured(settings)
        os.umask(0o077)  # whatever is left beside the database is as private as the database
        log_everything(Log())
        run(config, opened, listening)
