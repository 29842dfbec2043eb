"""What stands under `format` in memplan's own files."""

from __future__ import annotations

from typing import Final

PROBLEM_FORMAT: Final = "memplan/1"
PLAN_FORMAT: Final = "memplan-plan/1"
SHARING_FORMAT: Final = "memplan-sharing/1"
REPORT_FORMAT = "memplan-report/1"
SHARING_REPORT_FORMAT = "memplan-sharing-report/1"
MAP_FORMAT = "memplan-map/1"
SWEEP_FORMAT = "memplan-sweep/1"
