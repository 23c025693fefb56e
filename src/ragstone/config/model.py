"""Every setting of ragstone as typed, frozen records: one class a table of `ragstone.toml`, one `Config` for the whole."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ragstone.config.base import Many, Settings
from ragstone.config.delivery import ExportSettings, Step
from ragstone.config.monitored import TraceSettings


class JudgeSettings(Settings):
    """`[judge]`: the model that reads claims, and how it is asked."""

    model: str | None = None
    """Model name at the endpoint; `local`, or `scripted:FILE.json`. There is no default judge."""
    base_url: str | None = None
    """Address of the OpenAI-compatible API, without credentials; unset = OPENAI_BASE_URL."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key; unset = RAGSTONE_JUDGE_API_KEY, else OPENAI_API_KEY."""
    timeout: float = Field(default=120.0, gt=0, le=3600)
    """Seconds one try may take in all."""
    retries: int = Field(default=5, ge=0, le=100)
    """How often a request is sent again after a transport error, 408, 409, 429 or 5xx."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Longest reply in tokens; unset = not sent."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    """Sampling temperature."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Nucleus sampling; unset = not sent."""
    seed: int | None = Field(default=None, ge=-1, le=2**63 - 1)
    """Sampling seed of the endpoint; unset = not sent."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """More keys for the request body, merged at its top level."""
    thinking: Literal["off", "auto"] = "off"
    """`off` sends the off-switch to hosts known to have one; `auto` never sends one."""


class EmbeddingsSettings(Settings):
    """`[embeddings]`: the model that turns texts into vectors."""

    model: str | None = None
    """Model name at the endpoint; `local`, or `scripted:FILE.json`; unset = the bundled model."""
    base_url: str | None = None
    """Address of the API; unset = the judge's, if a model is named."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key; unset = RAGSTONE_EMBEDDINGS_API_KEY, else the judge's key."""
    batch_size: int = Field(default=10, ge=1, le=2048)
    """Most texts in one request; probed down where an endpoint takes fewer."""


class LimitSettings(Settings):
    """`[limits]`: how much of a sample is judged. Cuts fall at sentence ends and stand in the signature."""

    top_k: int | None = Field(default=None, ge=1)
    """Contexts judged a sample, from the top rank; unset = all."""
    max_context_chars: int | None = Field(default=None, ge=1)
    """Longest context in characters; unset = whole."""
    max_answer_chars: int | None = Field(default=None, ge=1)
    """Longest answer in characters; unset = whole."""


class MetricSettings(Settings):
    """`[metrics]`: what is measured and with which parameters."""

    metrics: Many | None = None
    """Metrics by name, with parameters in brackets where wanted; unset = those of the preset."""
    preset: Literal["fast", "retrieval", "full", "monitor"] = "full"
    """A named set of metrics."""
    strictness: int = Field(default=3, ge=1, le=20)
    """Questions answer_relevancy generates back from an answer."""
    plan: Literal["separate", "joint", "per-context"] = "separate"
    """How needs become requests."""
    precision_against: Literal["auto", "reference", "answer"] = "auto"
    """Yardstick of context_precision; `auto` = the reference if any row has one."""
    recall_points: Literal["all", "facts"] = "all"
    """`facts` leaves points about behaviour out of context_recall."""


class LevelSettings(Settings):
    """`[levels]`: from which mean on a metric is called high or middle."""

    high: float = Field(default=0.8, ge=0, le=1)
    """Least mean that is called high; not below `middle`."""
    middle: float = Field(default=0.5, ge=0, le=1)
    """Least mean that is called middle; below it is low."""


class Price(Settings):
    """`[prices."MODEL"]`: what a model costs, per million tokens, in any one currency."""

    input: float = Field(default=0.0, ge=0)
    """Prompt tokens."""
    output: float = Field(default=0.0, ge=0)
    """Completion tokens."""
    cached: float | None = Field(default=None, ge=0)
    """Prompt tokens the endpoint had cached; unset = as `input`."""


class StepSettings(Settings):
    """`[collect.before]`, `[collect.then]`: a further request beside the one that holds the question."""

    method: str = "GET"
    """HTTP method."""
    path: str
    """Path below the URL; `$response.…` is what the answer's response holds, `$id` and `$chunk.…` what a chunk holds."""
    headers: dict[str, str] = Field(default_factory=dict)
    """More request headers; `$env.NAME` is a secret from the environment."""
    body: Any = None
    """Request body with slots."""
    per: Literal["answer", "chunk"] | None = None
    """`chunk`: sent for every chunk that came without text; unset = so if `text` is given, else once an answer."""
    text: str | None = None
    """Where a chunk's text stands in this response."""
    answer: str | None = None
    """Where the answer stands in this response; unset = in the first one."""
    contexts: str | None = None
    """Where the list of chunks stands in this response; unset = in the first one."""
    error: str | None = None
    """Where an error message stands; unset = as for the question."""
    until: str | None = None
    """Expression that is true once the request need not be sent again; unset = sent once."""


def _listed(given: object) -> object:
    """One text or table stands for a list of one."""
    return [given] if isinstance(given, (str, dict, StepSettings)) else given


Patterns = Annotated[tuple[str, ...], BeforeValidator(_listed), Field(strict=False)]
"""Regular expressions: a text, or a list of texts."""
Steps = Annotated[tuple[StepSettings, ...], BeforeValidator(_listed), Field(strict=False)]
"""Further requests: a table, or a list of tables."""


class CollectSettings(Settings):
    """`[collect]`: the RAG application that answers the gold questions. Right-hand sides of field names are JMESPath."""

    platform: str | None = None
    """Name of a known platform, or any name for one described by this table."""
    url: str | None = None
    """Base address of the platform, without credentials."""
    app: str | None = None
    """Its chat, workspace, dataset, bot or model, where the platform needs one."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key; unset = RAGSTONE_COLLECT_API_KEY."""
    timeout: float | None = Field(default=None, gt=0, le=3600)
    """Seconds one try may take; unset = as for the judge."""
    retries: int | None = Field(default=None, ge=0, le=100)
    """How often a question is asked again; unset = as for the judge."""
    concurrency: int | None = Field(default=None, ge=1, le=1000)
    """Questions under way at a time; unset = the top-level setting."""
    repeat: int = Field(default=1, ge=1, le=100)
    """How often every question is asked."""
    stream: Literal["none", "openai-sse", "event-sse", "jsonl"] | None = None
    """Kind of stream the answer comes as; unset = as usual for the platform."""
    method: str | None = None
    """HTTP method; unset = the platform's, else POST."""
    path: str | None = None
    """Path below the URL, with slots."""
    headers: dict[str, str] = Field(default_factory=dict)
    """More request headers; `$env.NAME` is a secret from the environment."""
    body: Any = None
    """Request body with slots, laid over the platform's."""
    answer: str | None = None
    """Where the answer stands in the response."""
    contexts: str | None = None
    """Where the list of chunks stands."""
    context_id: str | None = None
    """Where a chunk holds its id."""
    context_text: str | None = None
    """Where a chunk holds its text."""
    context_score: str | None = None
    """Where a chunk holds its score."""
    context_source: str | None = None
    """Where a chunk holds its source."""
    error: str | None = None
    """Where an error message stands."""
    usage: str | None = None
    """Where the count of tokens stands."""
    strip: Patterns | None = None
    """Regular expressions of marks taken out of the answer."""
    strip_context: Patterns | None = None
    """Regular expressions of what is taken out of chunks."""
    fail_if: Patterns | None = None
    """Regular expressions; an answer in which one is found is an error text."""
    replace: str | None = None
    """In the events of a stream: text that takes the place of all before it."""
    success: str | None = None
    """Expression that is true of a good response."""
    retry: Annotated[tuple[int, ...], Field(strict=False)] | None = None
    """HTTP statuses, and codes in the body, that are asked again besides the usual ones."""
    before: StepSettings | None = None
    """A request sent before the question, for what it returns."""
    then: Steps | None = None
    """Further requests after the answer."""
    langfuse: TraceSettings = TraceSettings()


class GateRule(Settings):
    """Limits of one metric, in [0, 1]."""

    min_mean: float | None = Field(default=None, ge=0, le=1)
    """Fails when the interval of the mean lies below it."""
    max_drop: float | None = Field(default=None, ge=0, le=1)
    """Fails when the interval of the difference to the baseline lies below minus this."""


class GateSlice(GateRule):
    """Limits of one metric on the samples whose `by` is `value`."""

    by: str
    """Key of the samples' meta."""
    value: str | int | float | bool | None = None
    """Its value; unset = samples without the key."""
    metric: str
    """The metric the limits are for."""


class GateSettings(Settings):
    """`[gate]`: what must hold for a run to pass."""

    min_coverage: float = Field(default=0.95, ge=0, le=1)
    """Least share of cells that did not fail, of every metric."""
    confidence: float = Field(default=0.95, ge=0.5, lt=1)
    """Level of the intervals."""
    on_doubt: Literal["pass", "fail"] = "pass"
    """`fail`: a rule that noise could turn fails as well."""
    no_new_made_up: bool | Literal["any"] = False
    """True: no made-up claim with a digit that the baseline did not have; `any`: no new made-up claim at all."""
    allow_different_signature: bool = False
    """Go on, with a warning, where judge, embedder, prompts or metric versions differ from the baseline's."""
    metrics: dict[str, GateRule] = Field(default_factory=dict)
    """Limits by metric."""
    slices: Annotated[tuple[GateSlice, ...], Field(strict=False)] = ()
    """Limits on slices."""


class Config(Settings):
    """Every setting of `ragstone.toml`. Use `load_config` to merge flags, environment and file."""

    judge: JudgeSettings = JudgeSettings()
    embeddings: EmbeddingsSettings = EmbeddingsSettings()
    limits: LimitSettings = LimitSettings()
    metrics: MetricSettings = MetricSettings()
    levels: LevelSettings = LevelSettings()
    prices: dict[str, Price] = Field(default_factory=dict)
    """By model name."""
    collect: CollectSettings = CollectSettings()
    gate: GateSettings = GateSettings()
    export: ExportSettings = ExportSettings()

    language: Literal["auto", "zh", "en"] = "auto"
    """Language the judge is asked in; `auto` = that of each sample."""
    lang: Literal["zh", "en"] | None = None
    """Language of the screen; unset = the locale."""
    map: dict[str, str] = Field(default_factory=dict)
    """Columns by ragstone's name, e.g. {"reference": "标准"}."""
    encoding: str = "utf-8"
    """Text encoding of the file of samples."""

    strip_citations: bool = False
    """Take citation marks out of answers before judging."""
    max_cell_mb: float = Field(default=1, gt=0, le=1024)
    """Largest cell of an input file, in MB."""
    concurrency: int = Field(default=16, ge=1, le=1000)
    """Requests under way at a time."""
    rpm: int | None = Field(default=None, ge=1)
    """Requests a minute; unset = no limit."""
    tpm: int | None = Field(default=None, ge=1)
    """Tokens a minute; unset = no limit."""
    repeat: int = Field(default=1, ge=1, le=100)
    """How often every cell is judged."""
    limit: int | None = Field(default=None, ge=1, le=1_000_000_000)
    """Rows judged, from the first; unset = all."""
    seed: int = Field(default=0, ge=0, le=2**32 - 1)
    """Seed of everything random in ragstone."""
    no_cache: bool = False
    """Leave the shared reply cache alone."""
    cache: str | None = None
    """Folder of the reply cache; unset = the user's cache folder."""
    cache_mb: float = Field(default=1000, gt=0, le=1_000_000)
    """Most the reply cache holds, in MB; the least recently used goes first."""
    deadline: float | None = Field(default=None, gt=0)
    """Seconds a run may take; unset = no limit."""
    max_calls: int | None = Field(default=None, ge=1)
    """Most requests of a run; unset = no limit."""
    max_tokens_total: int | None = Field(default=None, ge=1)
    """Most tokens of a run; unset = no limit."""
    max_cost: float | None = Field(default=None, gt=0)
    """Most a run may cost by `prices`; unset = no limit."""
    dry_run: bool = False
    """Count requests and tokens, send nothing."""
    min_coverage: float = Field(default=0.95, ge=0, le=1)
    """Least share of a metric's cells that did not fail; below it the exit code is 1."""
    retry_failed: bool = False
    """Ask failed cells of a run folder again."""
    force: bool = False
    """Go on where ragstone would rather ask back."""

    gold: str | None = None
    """Gold set of a pipeline, relative to the file."""
    work: str | None = None
    """Folder of a pipeline's samples and runs, relative to the file."""
    baseline: str | None = None
    """`last`, a tag or a run folder."""
    steps: Annotated[tuple[Step, ...], Field(strict=False)] | None = None
    """Steps of a pipeline; unset = all."""
