"""What a run was made with: the manifest, its one-line signature, and what may not change on resume."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from ragstone import __version__
from ragstone.judge.base import LOGPROBS, NOBODY, Identity
from ragstone.metrics.base import Metric
from ragstone.plans.base import Plan
from ragstone.questions.base import prompt_digest, system_prompt
from ragstone.text import say
from ragstone.types import Language


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that can change a score, known before the first request."""

    judge: Identity
    embedder: Identity
    metrics: Sequence[Metric]
    plan: Plan
    language: str
    """auto, zh or en: the language the judge is asked in."""
    limits: dict[str, int]
    """top_k, max_context_chars, max_answer_chars where set."""

    @property
    def fields(self) -> dict[str, Any]:
        """The setup as the manifest holds it."""
        return {
            "judge": _who(self.judge),
            "embedder": _who(self.embedder),
            "prompts": {lang: prompts_digest(self.plan, lang) for lang in ("zh", "en")},
            "prompt_hashes": {k.name: {lang: prompt_digest(system_prompt(k, lang)) for lang in ("zh", "en")} for k in self.plan.kinds},
            "metrics": {m.text: {"name": m.name, "version": m.version, "parameters": m.parameters} for m in self.metrics},
            "plan": self.plan.name,
            "language": self.language,
            "limits": self.limits,
        }


def _who(identity: Identity) -> dict[str, Any]:
    notice = {"notice": say(identity.notice, "en")} if identity.notice else {}
    return {name: value for name, value in asdict(identity).items() if value is not None} | notice


def prompts_digest(plan: Plan, language: Language) -> str:
    """Return 4 hex digits that change when any prompt of the plan changes in that language."""
    return prompt_digest("\x1f".join(system_prompt(kind, language) for kind in plan.kinds))[:4]


def signature(manifest: dict[str, Any]) -> str:
    """Return the line that stands under every table: what the numbers were made with."""
    parts = [
        f"ragstone {manifest.get('version', '?')}",
        ", ".join(_metric(text, m) for text, m in (manifest.get("metrics") or {}).items()),
        f"judge {_judge(manifest.get('judge') or {})}",
        f"emb {_at(manifest.get('embedder') or {}, manifest.get('judge') or {})}",
        "prompts " + " ".join(f"{lang}:{digest}" for lang, digest in sorted((manifest.get("prompts") or {}).items())),
        f"plan {manifest.get('plan', '?')}",
    ]
    if manifest.get("language") in ("zh", "en"):
        parts.append(f"language {manifest['language']}")
    if limits := manifest.get("limits"):
        parts.append(" ".join(f"{name}={value}" for name, value in limits.items()))
    if (repeats := manifest.get("repeats", 1)) > 1:
        parts.append(f"repeats {repeats}")
    return " | ".join(parts)


def _metric(text: str, stored: dict[str, Any]) -> str:
    parameters = stored.get("parameters") or {}
    said = [f"against {parameters['against']}"] if "against" in parameters else []
    said += ["facts only"] if parameters.get("points") == "facts" else []
    said += [f"strictness {parameters['strictness']}"] if parameters.get("strictness", 3) != 3 and "(" not in text else []
    return " ".join([text, f"v{stored.get('version', '?')}", *said])


def _judge(judge: dict[str, Any]) -> str:
    temperature = (judge.get("parameters") or {}).get("temperature")
    return _at(judge, {}) + (f" t={temperature:g}" if isinstance(temperature, int | float) else "")


def _at(who: dict[str, Any], default: dict[str, Any]) -> str:
    endpoint = str(who.get("endpoint") or "")
    host = urlsplit(endpoint).netloc
    untold = not host or endpoint == default.get("endpoint")
    return str(who.get("model", "?")) + ("" if untold else f"@{host}")


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return (what, old, new) for every part of the setup that a resumed run may not change.

    Fields the old manifest lacks are unknown and cannot differ. Metrics only one side has do not differ, nor does a judge
    or embedder that only one side has: the other's metrics ask none.
    """
    pairs: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
    for part in asked(old, new):
        before, after = _requested(old.get(part) or {}), _requested(new.get(part) or {})
        known = before.keys() | (after.keys() if "requested" in (old.get(part) or {}) else set())
        pairs.append((part, before, {k: v for k, v in after.items() if k in known}))
    pairs += [(what, {what: old[what]}, {what: new[what]}) for what in ("language", "plan") if what in old]
    pairs += [(what, old[what], new[what]) for what in ("prompts", "limits") if what in old]
    for text, metric in (old.get("metrics") or {}).items():
        if other := new["metrics"].get(text):
            pairs.append((f"metric {text}", _flat(metric), {k: v for k, v in _flat(other).items() if k in _flat(metric)}))
    return [(what, *_told_apart(before, after)) for what, before, after in pairs if before != after]


def asked(*manifests: dict[str, Any]) -> list[str]:
    """Return which of judge and embedder every one of the manifests has, as far as known."""
    return [part for part in ("judge", "embedder") if all((m.get(part) or {}).get("model") != NOBODY for m in manifests)]


def _flat(metric: dict[str, Any]) -> dict[str, Any]:
    version = {"version": metric["version"]} if "version" in metric else {}
    return {**version, **(metric.get("parameters") or {})}


def _told_apart(before: dict[str, Any], after: dict[str, Any]) -> tuple[str, str]:
    """Write down what differs, and only that."""
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    first, second = (", ".join(f"{name} {side[name]}" for name in names if name in side) for side in (before, after))
    return first or "-", second or "-"


def _requested(who: dict[str, Any]) -> dict[str, Any]:
    """Who was asked, with what was wanted of it before the endpoint taught what it takes."""
    known: dict[str, Any] = {k: who[k] for k in ("model", "endpoint") if k in who}
    known.update({name: value for name, value in (who.get("requested") or {}).items() if name != LOGPROBS})
    return known


def fresh(setup: Setup, **facts: Any) -> dict[str, Any]:
    """Return the manifest of a run that begins: setup, facts, signature."""
    manifest = {"version": __version__, **facts, **setup.fields}
    for part in ("judge", "embedder"):
        manifest[part]["requested"] = manifest[part]["parameters"]
    return {**manifest, "signature": signature(manifest)}


def finished(manifest: dict[str, Any], setup: Setup, **facts: Any) -> dict[str, Any]:
    """Return the manifest of a run that ends: with the parameters that turned out to be effective.

    A session that learned nothing from its endpoints, maybe because it asked nothing, leaves what earlier ones learned.
    """
    who = {part: {**manifest[part], **setup.fields[part], **_seen(manifest[part], setup.fields[part])} for part in asked(setup.fields)}
    for part, now in who.items():
        if now["parameters"] == manifest[part].get("requested"):
            now["parameters"] = manifest[part]["parameters"]
    ended = {**manifest, **who, **facts}
    return {**ended, "signature": signature(ended)}


def _seen(before: dict[str, Any], now: dict[str, Any]) -> dict[str, list[str]]:
    """Who answered, in all sessions of a run."""
    both = {name: [*(before.get(name) or ()), *(now.get(name) or ())] for name in ("answered_by", "fingerprints")}
    return {name: list(dict.fromkeys(names)) for name, names in both.items() if names}


def continued(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of a resumed run: the old identity and birth, metrics of both, the larger number of repeats."""
    kept = {k: old[k] for k in ("run_id", "created_at", "wall_s") if k in old}
    metrics = {**(old.get("metrics") or {}), **new["metrics"]}
    repeats = max(int(old.get("repeats", 1)), int(new.get("repeats", 1)))
    who: dict[str, Any] = {part: old[part] for part in ("judge", "embedder") if part in old and part not in asked(new)}
    for part in asked(old, new):
        before = old.get(part) or new[part]
        who[part] = {**new[part], "parameters": before.get("parameters", {}), **_seen(before, new[part])}
    manifest: dict[str, Any] = old | new | kept | who | {"metrics": metrics, "repeats": repeats}
    return {**manifest, "signature": signature(manifest)}
