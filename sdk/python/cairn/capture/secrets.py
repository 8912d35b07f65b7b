"""What must not be recorded: passwords, tokens and keys, known by their names and by their look.

The rules are those of sdk/typescript/capture/secrets.ts. In doubt a value is struck out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

REDACTED = "[redacted]"

_SECRET_WORDS = frozenset(
    """
    token tokens secret secrets password passwords passwd passphrase pass pwd pw pin credential credentials
    creds cred auth authorization authentication bearer cookie cookies private apikey apikeys accesskey
    secretkey privatekey authtoken accesstoken refreshtoken sessionid signature sig jwt dsn webhook otp netrc
    """.split()
)
#: With one of these before it, `key` is the key to something, and not one of a dictionary.
_KEY_WORDS = frozenset(
    """
    api access secret private ssh encryption encrypt signing account license licence client master deploy
    service storage shared auth hmac aes rsa gpg pgp app application wandb comet neptune openai anthropic azure
    aws gcp s3
    """.split()
)
#: Language models count and name tokens all day long; these are not secret.
_TOKEN_BEFORE = frozenset(
    """
    pad eos bos unk sep cls mask special start end stop prefix suffix image audio video num n max min total per
    new input output context prompt completion train eval batch tokens by first last every extra visual soft sos
    """.split()
)
_TOKEN_AFTER = frozenset(
    """
    id ids index dim dims size len length count counts limit type types embedding embeddings embed drop dropout
    level budget classification merging pruning mixer rate frequency per
    """.split()
)
_LOOKS = re.compile(
    r"""\bcairn_[\w-]{16,} | \bgh[opusr]_[A-Za-z0-9]{16,} | \bgithub_pat_\w{16,}
    | \bgl(?:pat|ptt|dt|rt|cbt|ft|soat|agent)-[\w.-]{16,} | \bglsa_\w{16,}
    | \b(?:sk|pk|rk)-[\w-]{16,} | \b(?:sk|pk|rk)_(?:live|test)_\w{10,}
    | \b(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{12,} | \bAIza[\w-]{30,} | \bya29\.[\w-]{16,}
    | \bxox[a-z]-[\w-]{10,} | \bxapp-[\w-]{10,} | \bhf_[A-Za-z0-9]{16,} | \bnpm_[A-Za-z0-9]{16,} | \bpypi-[\w-]{16,}
    | \bdop_v1_[0-9a-f]{16,} | \bdapi[0-9a-f]{16,} | \bnvapi-[\w-]{16,} | \b(?:gsk|r8|fw|tgp_v1)_[\w-]{20,}
    | \bxai-[\w-]{20,} | \bSG\.[\w-]{10,}\.[\w-]{10,} | \bhv[sbr]\.[\w-]{16,}
    | \bAGE-SECRET-KEY-1[A-Z0-9]{16,} | \beyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY(?:\ BLOCK)?-----[\s\S]*?(?:-----END\ [A-Z ]*PRIVATE\ KEY(?:\ BLOCK)?-----|\Z)""",
    re.VERBOSE | re.ASCII,
)
_BEARER = re.compile(r"\b(Bearer|Basic|Negotiate)(\s{1,4})[\w.~+/=-]{6,}", re.IGNORECASE | re.ASCII)
_URL_USER = re.compile(
    r"""\b([a-z][a-z0-9+.-]{0,30}://)([^\s/?\#@:"'<>]{0,256}:(?!\d{1,5}/)[^\s@"'<>]{0,1024}@|[^\s/?\#@"'<>]{0,1024}@)""",
    re.IGNORECASE | re.ASCII,
)
_PAIR = re.compile(
    r"""(?<![\w.-])(["']?)([A-Za-z_][\w.-]{0,127})\1(\s{0,4}(?:=>?|:(?!//))\s{0,4})"""
    r"""("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^\s"',;&)}\]]+)""",
    re.ASCII,
)


def is_secret_name(name: str) -> bool:
    """Whether what goes by this name (of an option, a variable, a field) is a secret."""
    words = _words(name)
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        if word in ("key", "keys"):
            if before in _KEY_WORDS:
                return True
        elif word in ("token", "tokens"):
            if before not in _TOKEN_BEFORE and after not in _TOKEN_AFTER:
                return True
        elif word == "pwd":
            # The working directory is called PWD.
            if len(words) > 1 or name != name.upper():
                return True
        elif word in _SECRET_WORDS:
            return True
    return False


def _words(name: str) -> list[str]:
    """`--hubAPIKey` has the words hub, api, key."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    spaced = re.sub(r"([A-Z])([A-Z][a-z])", r"\1 \2", spaced)
    return [word for word in re.split(r"[^a-z0-9]+", spaced.lower()) if word]


def redact_text(text: str) -> str:
    """Text with every secret that can be recognised struck out."""
    return _PAIR.sub(_without_value, redact_looks(text))


def redact_looks(text: str) -> str:
    """Only what looks like a credential wherever it stands: for text in which names mean nothing, such as code."""
    clean = _URL_USER.sub(_without_user, text)
    clean = _LOOKS.sub(REDACTED, clean)
    return _BEARER.sub(rf"\1\2{REDACTED}", clean)


def _without_user(found: re.Match[str]) -> str:
    # A plain user name such as `git@` names an account, not a way in; a path of git needs it.
    keeps = found[2] == "git@" and re.fullmatch(r"(?:git\+)?ssh://", found[1], re.IGNORECASE)
    return found[1] + (found[2] if keeps else "")


def _without_value(found: re.Match[str]) -> str:
    if not is_secret_name(found[2]):
        return found[0]
    mark = found[4][0] if found[4][0] in "\"'" else ""
    closed = mark if len(found[4]) > 1 and found[4].endswith(mark) else ""
    return f"{found[1]}{found[2]}{found[1]}{found[3]}{mark}{REDACTED}{closed}"


def redact_args(argv: Sequence[str]) -> list[str]:
    """A command line without its secrets; the number of words stays."""
    clean: list[str] = []
    next_is_secret = False
    for argument in argv:
        is_option = re.fullmatch(r"--[A-Za-z][A-Za-z-]*(?:=.*)?|-[A-Za-z]", argument, re.DOTALL) is not None
        if next_is_secret and not is_option:
            clean.append(REDACTED)
            next_is_secret = False
            continue
        is_name = re.fullmatch(r"--?[A-Za-z][\w.-]*", argument, re.ASCII) is not None
        next_is_secret = is_name and not argument.lstrip("-").startswith("no-") and is_secret_name(argument)
        pair = re.fullmatch(r"([-+~]{0,2}[A-Za-z_][\w./@-]*)=(.+)", argument, re.DOTALL | re.ASCII)
        if pair is not None and is_secret_name(pair[1]):
            clean.append(f"{pair[1]}={REDACTED}")
        else:
            clean.append(redact_text(argument))
    return clean
