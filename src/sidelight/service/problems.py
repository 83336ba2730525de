"""What a request is refused with: a status, a code for programs and a sentence for people."""

from __future__ import annotations

from typing import Any

from sidelight.errors import SidelightError


class Problem(SidelightError):
    """An answer that is not 2xx; `about` names the item, the decision and the value where there is one."""

    def __init__(
        self, status: int, code: str, message: str, retry_after: float | None = None, **about: Any
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.retry_after, self.about = status, code, retry_after, about

    def body(self) -> dict[str, Any]:
        """The JSON of the answer."""
        return {"error": {"code": self.code, "message": str(self), **self.about}}


def unknown_policy(name: str) -> Problem:
    """404."""
    return Problem(404, "unknown_policy", f"there is no policy {name!r}")


def store_failed(error: object) -> Problem:
    """503: nothing of this request is kept, and it may be sent again."""
    return Problem(
        503,
        "store_failed",
        f"nothing of this request was stored: {error}; it may be sent again",
        retry_after=1.0,
    )
