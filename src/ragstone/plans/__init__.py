"""Plans: how needs become requests. One small module a plan."""

from ragstone.errors import ConfigError
from ragstone.plans.base import Plan


def get(name: str) -> Plan:
    """Return the plan of that name; raises ConfigError naming the known ones."""
    from ragstone.plans import separate

    plans: dict[str, Plan] = {separate.name: separate}
    if name not in plans:
        raise ConfigError(f"unknown plan {name!r}; this version knows: {', '.join(plans)}")
    return plans[name]
