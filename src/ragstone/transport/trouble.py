"""What went wrong with a connection, in a person's words: no class names of a library, the address where it is known."""

import errno
import socket
import ssl

import aiohttp

from ragstone.text import say
from ragstone.types import Language

_RESET = (errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED, errno.ESHUTDOWN)
_ROUTE = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.EADDRNOTAVAIL)
_BROKEN = (aiohttp.ClientPayloadError, aiohttp.ClientResponseError, aiohttp.http_exceptions.HttpProcessingError)


def trouble(error: BaseException, lang: Language) -> str:
    """Return what an error of a connection means: a phrase to stand in brackets or after a colon.

    The texts of the system and of OpenSSL stand in it where nothing better is known. It may hold what a server said: scrub it.
    """
    known = {"where": _where(error, lang), "host": getattr(error, "host", None) or say("trouble.somewhere", lang)}
    return say(f"trouble.{_word(error)}", lang, **known, detail=_detail(error), status=getattr(error, "status", "?"))


def _word(error: BaseException) -> str:
    cause = getattr(error, "os_error", error)
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return "proxy"
    if isinstance(error, aiohttp.ClientConnectorCertificateError | ssl.SSLCertVerificationError | ssl.CertificateError):
        return "certificate"
    if isinstance(error, aiohttp.ClientSSLError) or isinstance(cause, ssl.SSLError):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "certificate"
        return "tls_plain" if "wrong version number" in _detail(error).lower().replace("_", " ") else "tls"
    if isinstance(error, aiohttp.ClientConnectorDNSError) or isinstance(cause, socket.gaierror):
        return "name"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "reset"
    if isinstance(error, _BROKEN):
        return "broken"
    return _by_number(cause) or ("connect" if isinstance(error, aiohttp.ClientConnectorError) else "other")


def _by_number(error: BaseException) -> str | None:
    number = getattr(error, "errno", None)
    if number == errno.ECONNREFUSED:
        return "refused"
    if number == errno.ETIMEDOUT or isinstance(error, TimeoutError):
        return "silent"
    if number in _RESET or isinstance(error, ConnectionResetError):
        return "reset"
    return "unreachable" if number in _ROUTE else None


def _where(error: BaseException, lang: Language) -> str:
    host, port = getattr(error, "host", None), getattr(error, "port", None)
    if not host:
        return say("trouble.somewhere", lang)
    shown = f"[{host}]" if ":" in str(host) else host
    return f"{shown}:{port}" if port else str(shown)


def _detail(error: BaseException) -> str:
    """The innermost words: of OpenSSL why it refuses, of the system its text, else the error's own, else its kind."""
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    for words in (getattr(cause, "verify_message", None), getattr(cause, "reason", None), getattr(cause, "strerror", None), str(cause)):
        if words:
            return str(words).lower().replace("_", " ") if words == getattr(cause, "reason", None) else str(words)
    return type(cause).__name__
