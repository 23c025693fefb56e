import asyncio
import contextlib
import errno
import socket
import ssl

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from ragstone.transport.trouble import trouble

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
LIBRARY = ("Client", "Error", "ssl:", "Errno", "object at", "None", "Cannot connect")


def connector(cause, kind=aiohttp.ClientConnectorError, host="judge.test", port=443):
    return kind(ConnectionKey(host, port, True, True, None, None, None), cause)


def certificate(message):
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = message
    return error


def tls(reason):
    error = ssl.SSLError(1, f"[SSL: {reason}] something (_ssl.c:1000)")
    error.reason = reason
    return error


ERRORS = {
    "refused": (connector(ConnectionRefusedError(errno.ECONNREFUSED, "no")), ("judge.test:443", "refused"), ("judge.test:443", "拒绝")),
    "ipv6": (connector(ConnectionRefusedError(errno.ECONNREFUSED, "no"), host="::1", port=9), ("[::1]:9",), ("[::1]:9",)),
    "name": (
        connector(socket.gaierror(-2, "Name or service not known"), aiohttp.ClientConnectorDNSError),
        ("judge.test", "resolved"),
        ("judge.test", "解析"),
    ),
    "route": (connector(OSError(errno.EHOSTUNREACH, "x")), ("no route", "judge.test"), ("judge.test", "网络路径")),
    "silent": (connector(TimeoutError(errno.ETIMEDOUT, "x")), ("judge.test:443 does not answer",), ("judge.test:443", "没有响应")),
    "many files": (
        connector(OSError(errno.EMFILE, "Too many open files")),
        ("judge.test:443: Too many open files",),
        ("Too many open files",),
    ),
    "disconnected": (aiohttp.ServerDisconnectedError(), ("closed",), ("断开",)),
    "reset": (aiohttp.ClientOSError(errno.ECONNRESET, "Connection reset by peer"), ("closed",), ("断开",)),
    "bare reset": (ConnectionResetError("Cannot write to closing transport"), ("closed",), ("断开",)),
    "pipe": (BrokenPipeError(errno.EPIPE, "Broken pipe"), ("closed",), ("断开",)),
    "cut": (aiohttp.ClientPayloadError("Response payload is not completed: <ContentLengthError: 400>"), ("HTTP",), ("完整",)),
    "untrusted": (
        connector(certificate("self-signed certificate"), aiohttp.ClientConnectorCertificateError),
        ("certificate of judge.test:443", "self-signed certificate"),
        ("judge.test:443 的证书", "self-signed certificate"),
    ),
    "no tls": (
        connector(tls("WRONG_VERSION_NUMBER"), aiohttp.ClientConnectorSSLError),
        ("TLS", "wrong version number", "plain http://"),
        ("TLS", "http://？"),
    ),
    "other tls": (connector(tls("NO_CIPHERS_AVAILABLE"), aiohttp.ClientConnectorSSLError), ("TLS", "no ciphers available"), ("TLS",)),
    "unknown": (OSError("something else"), ("something else",), ("连接失败", "something else")),
    "wordless": (OSError(), ("failed",), ("连接失败",)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_a_connections_trouble_is_told_in_words(name):
    error, en, zh = ERRORS[name]
    for lang, parts in (("en", en), ("zh", zh)):
        told = trouble(error, lang)
        assert [part for part in parts if part not in told] == [], told
        assert name == "wordless" or not [word for word in LIBRARY if word in told], told


async def met(url):
    """The error that a request to an address ends with."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:
        try:
            async with session.post(url, data=b"{}") as response:
                await response.read()
        except (aiohttp.ClientError, OSError) as error:
            return error
    raise AssertionError("the request went through")


@contextlib.asynccontextmanager
async def listening(reply):
    """A server that sends some bytes once it was asked, and hangs up."""

    async def answer(reader, writer):
        await reader.read(10)
        writer.write(reply)
        with contextlib.suppress(ConnectionError):
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


@LANGUAGES
@pytest.mark.parametrize(
    ("reply", "word"),
    [(b"", "reset"), (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "broken"), (b"SSH-2.0-OpenSSH_9\r\n\r\n", "broken")],
    ids=["hung up", "cut", "not HTTP"],
)
async def test_what_really_happens_on_a_socket(reply, word, lang):
    async with listening(reply) as where:
        told = trouble(await met(f"http://{where}/v1"), lang)
    words = {"reset": {"en": "closed", "zh": "断开"}, "broken": {"en": "no whole HTTP", "zh": "不是完整的 HTTP"}}
    assert words[word][lang] in told
    assert not [part for part in LIBRARY if part in told], told


@LANGUAGES
async def test_nobody_listens_and_no_tls_there(lang):
    async with listening(b"no tls here") as where:
        assert "TLS" in trouble(await met(f"https://{where}/v1"), lang)
    told = trouble(await met(f"http://{where}/v1"), lang)
    assert where in told
    assert {"en": "refused", "zh": "拒绝"}[lang] in told
