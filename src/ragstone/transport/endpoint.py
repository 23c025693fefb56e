"""Where requests go: a checked address, a key that never shows, the proxy the environment names."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from ragstone.errors import ConfigError
from ragstone.text import say, screen_language
from ragstone.transport.key import Key as Key
from ragstone.transport.key import Secret
from ragstone.types import Language

_TOKEN_SHAPES = re.compile(
    r"(?P<lead>(?<![A-Za-z0-9])(?:sk-|(?:[spr]k_|gsk_|csk-|hf_|gh[pousr]_|github_pat_|r8_|fw_|tgp_v1_|xai-|nvapi-|pplx-|jina_|AIza|AKIA|LTAI)"
    r"(?=[\w*-]*\d)))[\w*-]{6,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"
    r"|\b[0-9a-f]{32}\.[A-Za-z0-9]{16}\b"
    r"|\b(?=[A-Z0-9_]*[a-z])(?=[a-z0-9_]*[A-Z])(?=[A-Za-z_]*\d)\w{40,}",
    re.ASCII,
)
"""Keys by their look: those of the usual providers, signed tokens, any long mixed word."""
_BEARER = re.compile(r"(?P<lead>\b[Bb]earer\s+)(?:(?=[\w.~+/=*-]*\d)[\w.~+/=*-]{6,}|[\w.~+/=*-]{20,})", re.ASCII)
_NAMED = re.compile(
    r"(?P<lead>(?i:\b(?:api|access|secret)?[ _-]?(?:key|token)(?![\w-])|\bsecret\b|密钥|令牌)(?:\s*(?:provided|is|was|为|是))?"
    r"[\s:：=\"'`(（「“]{0,4})(?=[\w.*-]*\d)[\w.*-]{15,}[\w*-]",
    re.ASCII,
)
"""Keys by what a server calls them."""
_NAMES = re.compile(r"key|token|secret|sig|auth|pass|code|subscription", re.IGNORECASE)
"""Parameters of an address whose values are secrets."""
_OPERATIONS = re.compile(r"/(chat/completions|completions|embeddings)$")
_VERSION = re.compile(r"/v\d+[a-z0-9]*(/|$)")


@dataclass(frozen=True, slots=True)
class Role:
    """What an endpoint is used for, as names of the settings a person would change."""

    key: str
    url: str
    model: str
    body: str
    example: str = "https://host/v1"
    """What an address usually looks like."""


JUDGE = Role(
    "RAGSTONE_JUDGE_API_KEY", "[judge] base_url (--base-url)", "[judge] model (--judge)", "[judge] extra_body, temperature, max_tokens"
)
EMBEDDINGS = Role(
    "RAGSTONE_EMBEDDINGS_API_KEY",
    "[embeddings] base_url (--embeddings-base-url)",
    "[embeddings] model (--embeddings)",
    "[embeddings] model, batch_size",
)
COLLECT = Role(
    "RAGSTONE_COLLECT_API_KEY", "[collect] url (--url)", "[collect] app (--app)", "[collect] body, path, headers", "https://host"
)


class Endpoint:
    """One model at one address.

    `url` is the base address as shown and stored: no credentials, no query, no trailing slash. A query (Azure's
    `api-version`) is kept for the requests alone. An address that ends in an operation (`/chat/completions`) is cut, unless
    it is to be kept `whole`. `secrets` are masked like the key wherever a server echoes them.

    Raises:
        ConfigError: the address is no http(s) URL, holds user:password, or the key cannot be sent.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        key: Key,
        role: Role,
        lang: Language | None = None,
        *,
        secrets: Iterable[Key] = (),
        whole: bool = False,
    ) -> None:
        self.lang: Language = lang or screen_language()
        self.model, self.key, self.role = model, key, role
        key.check(self.lang)
        parts = self._split(base_url.strip())
        path = parts.path.rstrip("/")
        path = path if whole else _OPERATIONS.sub("", path).rstrip("/")
        self.url = urlunsplit((parts.scheme, parts.netloc, path, "", ""))
        self._query = Secret(parts.query)
        self._others = (*(Key(value, name) for name, value in parse_qsl(parts.query) if _NAMES.search(name)), *secrets)
        self.host = (parts.hostname or "").lower()

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, {self.model!r})"

    def _split(self, base_url: str) -> SplitResult:
        told = {"url": shown_url(base_url), "setting": self.role.url, "example": self.role.example}
        try:
            parts = urlsplit(base_url)
            _ = parts.port  # only reading it finds a bad port
        except ValueError:
            raise ConfigError(say("http.bad_url", self.lang, **told)) from None
        if "@" in parts.netloc:
            raise ConfigError(say("http.url_credentials", self.lang, key_setting=self.key.name, **told))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(say("http.bad_url", self.lang, **told))
        return parts

    def at(self, path: str) -> str:
        """Return the address of an operation, e.g. `at("chat/completions")`."""
        return f"{self.url}/{path}" + (f"?{self._query}" if self._query else "")

    @property
    def loopback(self) -> bool:
        """True if the host is this machine."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def versioned(self) -> bool:
        """True if the address has a version part such as `/v1`."""
        return bool(_VERSION.search(urlsplit(self.url).path))

    def proxy(self) -> str | None:
        """Return the proxy HTTP_PROXY, HTTPS_PROXY and NO_PROXY (or the system) name for this host; never one for this machine.

        The client library's own `trust_env` is not used: it would also let `~/.netrc` replace the key, on every request.

        Raises:
            ConfigError: the variable names something else than an HTTP proxy.
        """
        if self.loopback or proxy_bypass(self.host):
            return None
        proxy = getproxies().get(urlsplit(self.url).scheme)
        if proxy and not proxy.startswith(("http://", "https://")):
            raise ConfigError(say("http.proxy_scheme", self.lang, proxy=shown_url(proxy)))
        return proxy

    def scrub(self, text: str) -> str:
        """Return a server's words without the key, the query of the address (another secret), and what looks like a key.

        For messages only: a judge's own reply may well speak of tokens.
        """
        bare = self._unlocked(text.replace(f"?{self._query}", "?…") if self._query else text)
        for tokens in (_TOKEN_SHAPES, _BEARER, _NAMED):
            bare = tokens.sub(lambda found: f"{found['lead'] or ''}…", bare)
        return bare

    def _unlocked(self, text: str) -> str:
        """The text without the key, and without the keys that stand in the address."""
        for key in (self.key, *self._others):
            text = key.scrub_echoes(text)
        return text

    def say(self, name: str, **values: object) -> str:
        """Return the text `http.<name>` with address, model, masked key and the settings' names filled in."""
        key = self.key.masked if self.key else say("http.unset_key", self.lang)
        known = {"url": self.url, "model": self.model, "key": key, "key_setting": self.key.name}
        settings = {"url_setting": self.role.url, "model_setting": self.role.model, "body_setting": self.role.body}
        return self._unlocked(say(f"http.{name}", self.lang, **{**known, **settings, **values}))


def shown_url(url: str) -> str:
    """The address without what may be secret in it: credentials and query."""
    bare = re.sub(r"//[^/?#]*@", "//…@", url)
    return re.sub(r"\?.*", "?…", bare)
