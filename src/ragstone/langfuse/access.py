"""Which Langfuse, with whose keys: read from the environment alone."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from ragstone.errors import ConfigError
from ragstone.text import listing, say, screen_language
from ragstone.transport.endpoint import Endpoint, Key, Role
from ragstone.transport.key import Secret, hidden
from ragstone.types import Language

PUBLIC_KEY: Final = "LANGFUSE_PUBLIC_KEY"
SECRET_KEY: Final = "LANGFUSE_SECRET_KEY"
HOSTS: Final = ("LANGFUSE_HOST", "LANGFUSE_BASE_URL")
"""Both names are in use; the first is looked at first."""
_ROLE = Role(SECRET_KEY, HOSTS[0], "", "", "https://host")
_BELOW = re.compile(r"/(api/public|project|auth)(/.*)?$")
"""What is pasted with an address: a path of the API, or of a page of the project."""


class Host(Endpoint):
    """A Langfuse server, with the pair of keys that opens one project there. Neither key is ever shown whole.

    Raises:
        ConfigError: the address is no http(s) address or holds user:password, or a key cannot be sent.
    """

    def __init__(self, url: str, public: str, secret: str, lang: Language | None = None) -> None:
        self.public = Key(hidden(public), PUBLIC_KEY)
        super().__init__(url, "", Key(hidden(secret), SECRET_KEY), _ROLE, lang, secrets=(self.public,), whole=True)
        self.public.check(self.lang)
        parts = urlsplit(self.url)
        self.url = urlunsplit(parts._replace(path=_BELOW.sub("", parts.path).rstrip("/")))
        pair = b64encode(f"{public.strip()}:{secret.strip()}".encode()).decode()
        self._pair = Key(pair, SECRET_KEY)

    def header(self) -> dict[str, str]:
        """Return the header that holds both keys."""
        return {"Authorization": Secret(next(iter(self._pair.header("Basic").values())))}

    def say(self, name: str, **values: object) -> str:
        """Return the text `sending.<name>` with the address, the masked public key and the variables filled in."""
        known = {"url": self.url, "key": self.public.masked, "host": HOSTS[0], "public": PUBLIC_KEY, "secret": SECRET_KEY}
        return self._unlocked(say(f"sending.{name}", self.lang, **{**known, **values}))


def host_of(environ: Mapping[str, str], lang: Language | None = None) -> Host:
    """Return the server and the keys that the environment names.

    Raises:
        ConfigError: a variable is not set (the text names every one), two of them name different servers, the keys have changed
            places, or what they hold cannot be used. There is no server by default: questions and answers must not go to one
            that nobody has named.
    """
    said = lang or screen_language()
    held = {name: environ.get(name, "").strip() for name in (PUBLIC_KEY, SECRET_KEY, *HOSTS)}
    urls = [held[name] for name in HOSTS if held[name]]
    unset = [name for name in (PUBLIC_KEY, SECRET_KEY) if not held[name]] + ([] if urls else [HOSTS[0]])
    if unset:
        raise ConfigError(say("sending.unset", said, names=listing(unset, said), host=HOSTS[0]))
    if held[PUBLIC_KEY].startswith("sk-") and held[SECRET_KEY].startswith("pk-"):
        raise ConfigError(say("sending.swapped", said, public=PUBLIC_KEY, secret=SECRET_KEY))
    hosts = [Host(url, held[PUBLIC_KEY], held[SECRET_KEY], said) for url in urls]
    if len({host.url for host in hosts}) > 1:
        raise ConfigError(say("sending.two_hosts", said, names=listing(HOSTS, said), urls=listing((host.url for host in hosts), said)))
    return hosts[0]
