"""Plans: how needs become requests. One small module a plan."""

from ragstone.errors import ConfigError
from ragstone.plans.base import Plan
from ragstone.text import say, screen_language


def get(name: str) -> Plan:
    """Return the plan of that name; raises ConfigError naming the known ones."""
    from ragstone.plans import joint, per_context, separate

    plans: dict[str, Plan] = {plan.name: plan for plan in (separate, joint, per_context)}
    if name not in plans:
        raise ConfigError(say("metrics.unknown_plan", screen_language(), name=name, known=", ".join(plans)))
    return plans[name]
