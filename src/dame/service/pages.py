"""The pages: files of this package, served as they are."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from dame.service.problems import Problem

PAGES: Mapping[str, str] = {"/": "dashboard.html", "/dashboard": "dashboard.html", "/join": "join.html"}


def folder() -> Path:
    """Where the pages are."""
    return Path(str(resources.files("dame"))) / "web"


def page_routes() -> list[BaseRoute]:
    """The pages, and the scripts and styles that they load."""
    pages: list[BaseRoute] = [Route(path, _page(folder() / name), methods=["GET"]) for path, name in PAGES.items()]
    return [*pages, Mount("/static", StaticFiles(directory=folder(), check_dir=False), name="static")]


def _page(path: Path):  # type: ignore[no-untyped-def]
    async def page(_request: Request) -> Response:
        if not path.is_file():
            raise Problem("unknown-page", "this server was installed without pages")
        return FileResponse(path, media_type="text/html; charset=utf-8")

    return page
