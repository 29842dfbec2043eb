"""Metrics for Prometheus: which process serves them, where, and what they contain if the store does not answer."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

import httpx
import pytest

from api.process.metrics import Metrics
from api.settings import WrongSettings
from api.store import StoreUnavailable
from api.store.opening import open_store
from tests.api.jobs.rigs import add


class Team:
    busy, size, deaths = 1, 2, 3


def test_jobs_and_workers_are_counted_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = Metrics()
    with contextlib.closing(open_store(f"sqlite:///{tmp_path / 'store.sqlite'}")) as store:
        metrics.watch_store(store)
        metrics.watch_team("solvers", Team())
        add(store)
        with metrics.served("127.0.0.1", 0) as port:
            text = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text
            assert 'memplan_jobs{state="queued"} 1.0' in text
            assert "memplan_store_up 1.0" in text
            assert 'memplan_workers_busy{processes="solvers"} 1.0' in text
            with pytest.raises(WrongSettings, match="metrics_port"), metrics.served("127.0.0.1", port):
                pass
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port or 0)) != 0, "nobody listens any more"

        def gone() -> None:
            raise StoreUnavailable("gone")

        monkeypatch.setattr(store, "counts", gone)
        text = metrics.expose().decode()
        assert "memplan_store_up 0.0" in text
        assert "memplan_jobs{" not in text
