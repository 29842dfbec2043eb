"""Is the service in this container alive? Ends with 0 if it answers, with 1 if not."""

from __future__ import annotations

import os
import sys
from http.client import HTTPConnection, HTTPException


def answers(port: int) -> bool:
    """Does /healthz answer 200 within two seconds?"""
    connection = HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(0 if answers(int(os.environ.get("MEMPLAN_PORT", "8080"))) else 1)
