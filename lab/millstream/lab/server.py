"""The page of the laboratory: start and stop experiments, watch them, see and take away what they gave.

Starlette and uvicorn: routing, host checks, limits on requests and orderly shutdown come from libraries that
are made for it; Python's own ``http.server`` says itself that it is not. There is no build step and nothing
is loaded from elsewhere. Experiments are started by name: nothing that a request carries is run or opened.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from threading import Lock, Thread
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from . import figures
from .experiment import Experiment
from .export import export
from .guard import Guard
from .laboratory import Laboratory
from .report import PAGE, environment, html, point
from .rows import Missing
from .store import OPEN, RUNNING, Run
from .view import view_experiment, view_run

#: names under which a browser on this machine reaches the page
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
STATIC = {"lab.css": "text/css", "lab.js": "text/javascript"}
#: samples of the load that the live graph shows
SHOWN = 240


class Page:
    """The page of one laboratory, and the thread that performs its runs."""

    def __init__(self, lab: Laboratory) -> None:
        self.lab = lab
        self.templates = environment()
        #: why the last run could not be performed (written by the thread that performs it)
        self.trouble = ""
        self._worker: Thread | None = None
        self._starting = Lock()

    # What runs

    def busy(self) -> bool:
        """Tell whether a run is being performed."""
        return self._worker is not None and self._worker.is_alive()

    def perform(self, run: Run) -> None:
        """Perform a run in the background; one at a time, or they would disturb each other's figures."""
        with self._starting:
            if self.busy():
                raise HTTPException(409, "a run is going on already: stop it, or wait for it")
            self._worker = Thread(target=self._perform, args=(run,), name=f"run {run.id}")
            self._worker.start()

    def _perform(self, run: Run) -> None:
        self.trouble = ""
        try:
            self.lab.perform(run)
        except Exception as failure:  # there is nobody to raise it to but those who look at the page
            self.trouble = str(failure.args[0] if failure.args else failure)

    def close(self) -> None:
        """Stop what is running, and wait until it has stopped."""
        if self._worker is not None:
            self.lab.stop()
            self._worker.join()

    async def start(self, request: Request) -> Response:
        """Begin a run of the experiments that are named."""
        wanted = await body(request)
        names, quick = wanted.get("experiments"), wanted.get("quick", False)
        if not isinstance(names, list) or not names or not isinstance(quick, bool):
            raise HTTPException(400, 'expected {"experiments": [names], "quick": true or false}')
        for name in names:
            self._experiment(name)
        if self.busy():
            raise HTTPException(409, "a run is going on already: stop it, or wait for it")
        try:
            run = await run_in_threadpool(self.lab.plan, names, quick)
        except LookupError as failure:
            raise HTTPException(400, str(failure.args[0])) from failure
        self.perform(run)
        return JSONResponse({"run": run.id}, 201)

    async def stop(self, request: Request) -> Response:
        """Stop what is running."""
        await body(request)
        self.lab.stop()
        return JSONResponse({"stopping": self.busy()})

    async def resume(self, request: Request) -> Response:
        """Continue a run."""
        number = (await body(request)).get("run")
        try:
            run = self.lab.continued(self._run(number).id)
        except ValueError as failure:
            raise HTTPException(409, str(failure)) from failure
        self.perform(run)
        return JSONResponse({"run": run.id})

    # What is seen

    def index(self, request: Request) -> Response:
        """Show the page."""
        runs = self.lab.store.runs()
        number = request.query_params.get("run")
        run = self._run(number) if number is not None else runs[0] if runs else None
        groups: dict[str, list[Experiment]] = {}
        for experiment in self.lab.experiments.values():
            groups.setdefault(experiment.group or "Others", []).append(experiment)
        template = self.templates.get_template("index.html")
        view = view_run(self.lab, run) if run else None
        return HTMLResponse(template.render(groups=groups, runs=runs, view=view, absent=self.lab.absent))

    def state(self, request: Request) -> Response:
        """Tell how far things are, for the page to look at once a second."""
        number = request.query_params.get("run")
        if number is None:
            return JSONResponse({"busy": self.busy()})
        run = self._run(number)
        results = self.lab.store.results(run.id)
        present = next((r for r in results if r.status == RUNNING), None) if self.busy() else None
        samples = self.lab.store.samples(present.id)[-SHOWN:] if present else []
        done = {r.experiment: 0 for r in results}
        for result in results:
            done[result.experiment] += result.status not in OPEN
        return JSONResponse({
            "busy": self.busy(),
            "trouble": self.trouble,
            "points": len(results),
            "done": sum(done.values()),
            "experiments": done,
            "present": present and {
                "experiment": present.experiment, "point": point(present.point), "share": present.share,
                "what": present.what,
            },
            "samples": [[s.time, s.loads, s.own, s.memory] for s in samples],
        })  # fmt: skip

    def experiment(self, request: Request) -> Response:
        """Show one experiment of a run: the part of the page that changes."""
        run, experiment = self._run(request.path_params["run"]), self._experiment(request.path_params["name"])
        view = view_experiment(self.lab, run, experiment)
        base = f"/runs/{run.id}/plots/{experiment.name}"
        shown = []
        if len(view.rows):
            links = [*((t, f"{base}/{k}.svg") for k, t in enumerate(experiment.plots)),
                     ("CPU load over time", f"{base}/load.svg")]  # fmt: skip
            version = sum(view.counts.get(s, 0) for s in view.counts if s not in OPEN)
            shown = [(t, f"{u}?theme=light&v={version}", f"{u}?theme=dark&v={version}") for t, u in links]
        module: Any = self.templates.get_template("parts.html").module
        return HTMLResponse(module.experiment(view, shown, figures.drawings(experiment)))

    def plot(self, request: Request) -> Response:
        """Draw one plot of a run."""
        run, experiment = self._run(request.path_params["run"]), self._experiment(request.path_params["name"])
        theme = "dark" if request.query_params.get("theme") == "dark" else "light"
        form, which = request.path_params["form"], request.path_params["plot"]
        titles = dict(enumerate(experiment.plots))
        if form not in ("svg", "png") or not (
            which == "load" or (which.isdecimal() and int(which) in titles)
        ):
            raise HTTPException(404, f"{experiment.name} has no plot {which}.{form}")
        try:
            if which == "load":
                drawn = figures.load(self.lab, run, experiment, form, theme)
            else:
                drawn = figures.plot(self.lab, run, experiment, titles[int(which)], form, theme)
        except Missing as missing:
            raise HTTPException(404, str(missing)) from missing
        return Response(drawn, media_type={"svg": "image/svg+xml", "png": "image/png"}[form])

    def report(self, request: Request) -> Response:
        """Give the report of a run as one HTML file."""
        run = self._run(request.path_params["run"])
        name = f"millstream-lab-run-{run.id}.html"
        return HTMLResponse(
            html(self.lab, run), headers={"Content-Disposition": f'inline; filename="{name}"'}
        )

    def export(self, request: Request) -> Response:
        """Give everything of a run as a zip file."""
        run = self._run(request.path_params["run"])
        name = f"millstream-lab-run-{run.id}.zip"
        disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(export(self.lab, run), media_type="application/zip", headers=disposition)

    def static(self, request: Request) -> Response:
        """Give one of the page's own files."""
        name = request.path_params["name"]
        if name not in STATIC:
            raise HTTPException(404, "there is no such file")
        return Response((PAGE / name).read_bytes(), media_type=STATIC[name])

    def _run(self, number: Any) -> Run:
        try:
            return self.lab.store.run(int(number))
        except (LookupError, TypeError, ValueError, OverflowError) as failure:
            raise HTTPException(404, f"there is no run {str(number)[:20]!r}") from failure

    def _experiment(self, name: Any) -> Experiment:
        if not isinstance(name, str) or name not in self.lab.experiments:
            raise HTTPException(404, f"there is no experiment {str(name)[:60]!r}")
        return self.lab.experiments[name]

    def routes(self) -> list[Route]:
        """Return all addresses."""
        return [
            Route("/", self.index),
            Route("/state", self.state),
            Route("/start", self.start, methods=["POST"]),
            Route("/stop", self.stop, methods=["POST"]),
            Route("/resume", self.resume, methods=["POST"]),
            Route("/static/{name}", self.static),
            Route("/runs/{run}/experiments/{name}", self.experiment),
            Route("/runs/{run}/plots/{name}/{plot}.{form}", self.plot),
            Route("/runs/{run}/report.html", self.report),
            Route("/runs/{run}/export.zip", self.export),
        ]


async def body(request: Request) -> dict[str, Any]:
    """Return the body of a request, which must be a JSON object."""
    try:
        value = json.loads(await request.body())
    except ClientDisconnect as failure:  # whoever asked has gone: nobody is told, and nothing is wrong here
        raise HTTPException(400, "the body ends before its length") from failure
    except (ValueError, RecursionError) as failure:
        raise HTTPException(400, "the body is not JSON") from failure
    if not isinstance(value, dict):
        raise HTTPException(400, "the body must be a JSON object")
    return value


def application(page: Page, allowed: Sequence[str] = ()) -> Starlette:
    """Return the application, which answers for loopback names and those that are allowed."""
    hosts = [*LOOPBACK, *allowed]
    middleware = [
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False), Middleware(Guard)
    ]  # fmt: skip
    return Starlette(routes=page.routes(), middleware=middleware)


def configuration(page: Page, host: str, port: int, allowed: Sequence[str]) -> uvicorn.Config:
    """Return what uvicorn needs to know."""
    return uvicorn.Config(
        application(page, allowed), host=host, port=port, log_level="warning", lifespan="off",
        server_header=False, limit_concurrency=100, timeout_graceful_shutdown=3, ws="none",
    )  # fmt: skip


def serve(lab: Laboratory, host: str = "127.0.0.1", port: int = 8000, allowed: Sequence[str] = ()) -> None:
    """Serve the page until interrupted; stop what is running then."""
    page = Page(lab)
    config = configuration(page, host, port, allowed)
    socket = config.bind_socket()
    socket.listen()  # from here on the address works, even if the answer has to wait a moment
    print(f"the lab: http://{host}:{socket.getsockname()[1]}/ (stop with Ctrl-C)", flush=True)
    try:
        uvicorn.Server(config).run([socket])
    except KeyboardInterrupt:
        pass
    finally:
        page.close()
        socket.close()
