"""The failure of a call."""

from __future__ import annotations

from collections.abc import Mapping


class Failure(Exception):
    """A message for people and a code for programs; the same as the Failure of the TypeScript client."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        reason: str = "",
        hint: str = "",
        facts: Mapping[str, str] | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        #: Such as "not_found" or "unavailable": the codes of docs/api.md.
        self.code = code
        #: A stable word such as SEQ_GAP; empty where the server gave none.
        self.reason = reason
        #: What a person can do about it; may be empty.
        self.hint = hint
        self.facts: dict[str, str] = dict(facts or {})
        #: When to retry, where the server has said it.
        self.retry_after_s = retry_after_s

    @property
    def is_final(self) -> bool:
        """The answer to the same request will always be the same."""
        if self.code in ("invalid_argument", "already_exists", "out_of_range", "unimplemented"):
            return True
        return self.code == "resource_exhausted" and self.retry_after_s is None

    @property
    def is_refusal(self) -> bool:
        """The credential is missing or insufficient: a person has to act."""
        return self.code in ("unauthenticated", "permission_denied")

    def __str__(self) -> str:
        message = str(self.args[0])
        # The server puts the hint into its message already.
        return f"{message} ({self.hint})" if self.hint and self.hint not in message else message
