"""RAG platforms as they answer: each checks the request as the real one would, then answers from FACTS in its own shape.

    async with RagServer(platform("fastgpt")) as server: ...
    RagServer(platform("fastgpt", "thin"))     # a variant: another version, or a fault, of the same platform

What a platform needs is in `NEEDS` (settings of `[collect]`). A question that is not among the facts finds nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
from support.rag_server import Asked, Reply, fail, page, stream, tell

KEY = "key-for-tests-0123456789"
LEAVE = "入职满一年有几天年假？"
PARKING = "Where may visitors park?"
UNKNOWN = "Who won the cup?"


@dataclass(frozen=True)
class Fact:
    """What a platform knows about a question: its answer, and chunks of (id, text, score, source)."""

    answer: str
    chunks: tuple[tuple[str, str, float, str], ...] = ()


FACTS = {
    LEAVE: Fact("有 12 天年假。", (("k1", "年假\n满一年 12 天。", 0.81, "手册.docx"), ("k2", "病假须附证明。", 0.4, "手册.docx"))),
    PARKING: Fact("On level 2.", (("k3", "Visitors park on level 2.", 0.7, "site.pdf"),)),
}
NOTHING = Fact("I found nothing about that.")

NEEDS: dict[str, dict[str, Any]] = {
    "fastgpt": {},
    "fastgpt-search": {"app": "set1"},
    "dify-chat": {},
    "dify-workflow": {},
    "dify-retrieval": {"app": "set1"},
    "ragflow": {"app": "chat1"},
    "ragflow-openai": {"app": "chat1"},
    "ragflow-retrieval": {"app": "set1"},
    "maxkb": {},
    "anythingllm": {"app": "team"},
    "open-webui": {"app": "llama"},
    "coze": {"app": "bot1"},
    "openai-responses": {"app": "vs1", "body": {"model": "small"}},
    "openai": {"app": "small"},
    "langserve": {"app": "rag"},
    "hayhooks": {"app": "rag"},
}
"""What must be set besides the address."""

Answering = Callable[[Asked, str], Reply]


@dataclass
class RagPlatform:
    """A script for RagServer."""

    name: str
    variant: str
    reply: Answering
    refuse_key: Callable[[], Reply]
    keyless: bool = False

    def __call__(self, asked: Asked) -> Reply:
        if not self.keyless and asked.headers.get("Authorization") != f"Bearer {KEY}":
            return self.refuse_key()
        return self.reply(asked, self.variant)


def platform(name: str, variant: str = "") -> RagPlatform:
    """Return a platform's script."""
    make, refuse_key = PLATFORMS[name]
    return RagPlatform(name, variant, make(), refuse_key, keyless=name in ("langserve", "hayhooks"))


def fact(question: Any) -> Fact:
    return FACTS.get(question, NOTHING)


def sse(*events: Any, done: bool = False) -> Reply:
    """Server-sent events: JSON values, (name, value) or texts as they are."""
    return stream(*map(event, events), *(["data: [DONE]\n\n"] if done else []))


def event(given: Any) -> str:
    if isinstance(given, str):
        return given
    name, value = given if isinstance(given, tuple) else (None, given)
    data = value if isinstance(value, str) else orjson.dumps(value).decode()
    return f"event: {name}\ndata: {data}\n\n" if name else f"data: {data}\n\n"


def halves(text: str) -> list[str]:
    return [text[: len(text) // 2], text[len(text) // 2 :]]


def user_text(body: Any) -> str | None:
    """The question of a chat request, None if the request is none."""
    messages = body.get("messages")
    good = isinstance(messages, list) and messages and messages[-1].get("role") == "user"
    return messages[-1].get("content") if good else None


def deltas(text: str) -> list[dict[str, Any]]:
    parts = [{"choices": [{"index": 0, "delta": {"content": part}, "finish_reason": None}]} for part in halves(text)]
    return [*parts, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]


def completion(text: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, **more}
    return {"id": "x1", "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


# ------------------------------------------------------------------ FastGPT
def fastgpt_error(code: int, status: str, message: str, http: int = 200) -> Reply:
    return tell({"code": code, "statusText": status, "message": message, "data": None}, http)


def quote(chunk: tuple[str, str, float, str], variant: str) -> dict[str, Any]:
    id, text, score, source = chunk
    texts = {} if variant in ("thin", "thin-refused") else halved(text)
    scores: Any = (
        score if variant == "old" else [{"type": "embedding", "value": score, "index": 0}, {"type": "rrf", "value": 0.01, "index": 0}]
    )
    return {"id": id, "datasetId": "set1", "collectionId": "c", "sourceName": source, "sourceId": "f", "score": scores} | texts


def halved(text: str) -> dict[str, str]:
    """FastGPT and Dify keep a chunk as question and answer; the answer may be empty."""
    question, _, answer = text.partition("\n")
    return {"q": question, "a": answer}


def fastgpt_nodes(found: Fact, variant: str) -> list[dict[str, Any]]:
    search = {"moduleType": "datasetSearchNode", "moduleName": "检索", "quoteList": [quote(c, variant) for c in found.chunks]}
    if variant == "nested":
        return [{"moduleType": "tools", "toolDetail": [{"moduleType": "pluginModule", "pluginDetail": [search]}]}]
    return [search, {"moduleType": "chatNode", "moduleName": "对话"}]


def fastgpt(asked: Asked, variant: str) -> Reply:
    if asked.path == "/api/core/dataset/data/detail":
        return fastgpt_detail(asked, variant)
    if asked.path != "/api/v1/chat/completions":
        return page()
    question = user_text(asked.body)
    if question is None or "chatId" in asked.body:
        return fastgpt_error(500, "", "messages is required")
    if variant == "no-app":
        return fastgpt_error(502001, "unAuthApp", "无权操作该应用", 500)
    if variant == "form":
        return tell({"responseData": [], **completion([{"type": "interactive", "interactive": {"type": "userSelect"}}])})
    found = fact(question)
    if variant == "model-error":
        return tell({"responseData": [], "error": {"message": "模型返回为空"}, **completion("")})
    marked = f"{found.answer}[{found.chunks[0][0]}](CITE)" if found.chunks and variant != "thin" else found.answer
    nodes = fastgpt_nodes(found, variant)
    if asked.body["stream"]:
        return fastgpt_stream(marked, nodes, variant)
    text = [{"type": "reasoning", "reasoning": {"content": "想"}}, {"type": "text", "text": {"content": marked}}]
    body = completion(text if variant == "list" else marked) | {"error": None, "newVariables": {}, "usage": {"total_tokens": 1}}
    return tell(body | ({"responseData": nodes} if asked.body["detail"] else {}))


def fastgpt_stream(text: str, nodes: list[dict[str, Any]], variant: str) -> Reply:
    answer = [("answer", delta) for delta in deltas(text)]
    flow, done = ("flowResponses", nodes), ("answer", "[DONE]")
    ends = [done, flow] if variant == "late" else [flow, done]
    return sse(("flowNodeStatus", {"status": "running", "name": "检索"}), *answer, *ends)


def fastgpt_detail(asked: Asked, variant: str) -> Reply:
    if variant == "thin-refused":
        return fastgpt_error(501001, "unAuthDataset", "无权操作该知识库", 500)
    text = next((c[1] for f in FACTS.values() for c in f.chunks if c[0] == asked.query.get("id")), None)
    return tell({"code": 200, "statusText": "", "message": "", "data": {"id": asked.query["id"], **halved(text or "")}})


def fastgpt_search(asked: Asked, variant: str) -> Reply:
    body = asked.body
    if asked.path != "/api/core/dataset/searchTest" or body.get("datasetId") != "set1":
        return fastgpt_error(501000, "unExistDataset", "知识库不存在", 500)
    if not body.get("text") or body.get("searchMode") not in ("embedding", "fullTextRecall", "mixedRecall"):
        return fastgpt_error(500, "", "text is required", 500)
    found = [quote(chunk, variant) for chunk in fact(body["text"]).chunks]
    return tell(
        {"code": 200, "statusText": "", "message": "", "data": found if variant == "bare" else {"list": found, "limit": body["limit"]}}
    )


# ------------------------------------------------------------------ Dify
def dify_error(code: str, message: str, http: int) -> Reply:
    return tell({"code": code, "message": message, "status": http}, http)


def dify_chunks(found: Fact) -> list[dict[str, Any]]:
    return [
        {"position": at, "dataset_id": "set1", "document_name": source, "segment_id": id, "score": score, "content": text}
        for at, (id, text, score, source) in enumerate(found.chunks, 1)
    ]


def dify_chat(asked: Asked, variant: str) -> Reply:
    body = asked.body
    if asked.path != "/v1/chat-messages":
        return dify_error("not_found", "The requested URL was not found on the server.", 404)
    if not body.get("query") or not body.get("user") or not isinstance(body.get("inputs"), dict) or body.get("conversation_id"):
        return dify_error("invalid_param", "query, user and inputs are required", 400)
    if variant == "agent" and body["response_mode"] == "blocking":
        return dify_error("invalid_param", "Agent Chat App does not support blocking mode", 400)
    if variant == "workflow-app":
        return dify_error("not_chat_app", "Please check if your app mode matches the right API route.", 400)
    if variant == "quota":
        return dify_error("provider_quota_exceeded", "Your quota is exhausted.", 400)
    found = fact(body["query"])
    told = {} if variant == "no-citations" else {"retriever_resources": dify_chunks(found)}
    ends = {"usage": {"total_tokens": 21}, **told}
    if body["response_mode"] == "blocking":
        return tell({"event": "message", "message_id": "m", "mode": "chat", "answer": found.answer, "metadata": ends, "created_at": 1})
    return dify_stream(found, ends, variant)


def dify_stream(found: Fact, ends: dict[str, Any], variant: str) -> Reply:
    kind = "agent_message" if variant == "agent" else "message"
    pieces = [{"event": kind, "task_id": "t", "answer": part} for part in halves(found.answer)]
    if variant == "error":
        return sse(pieces[0], {"event": "error", "status": 400, "code": "completion_request_error", "message": "model is down"})
    if variant == "replaced":
        pieces = [{"event": "message", "answer": "unfit "}, {"event": "message_replace", "answer": found.answer}]
    return sse(pieces[0], "event: ping\n\n", *pieces[1:], {"event": "message_end", "task_id": "t", "metadata": ends})


def dify_workflow(asked: Asked, variant: str) -> Reply:
    body = asked.body
    if asked.path != "/v1/workflows/run" or not body.get("user") or not isinstance(body.get("inputs"), dict):
        return dify_error("invalid_param", "inputs and user are required", 400)
    name = "q" if variant == "own-names" else "query"
    if set(body["inputs"]) != {name}:
        return dify_error("invalid_param", f"{name} is required in input form", 400)
    found = fact(body["inputs"][name])
    chunks = [
        {"title": source, "content": text, "metadata": {"segment_id": id, "score": score}} for id, text, score, source in found.chunks
    ]
    outputs = {"reply": found.answer} if variant == "own-names" else {"text": found.answer, "result": chunks}
    failed = variant == "failed"
    data = {"status": "failed" if failed else "succeeded", "outputs": None if failed else outputs, "total_tokens": 9}
    data["error"] = "node LLM failed" if failed else None
    if variant == "stopped":
        data = {"status": "stopped", "outputs": {}, "error": None, "total_tokens": 9}
    whole = {"task_id": "t", "workflow_run_id": "w", "data": data}
    if body["response_mode"] == "blocking":
        return tell(whole)
    return sse(
        {"event": "workflow_started", "task_id": "t", "data": {"id": "w"}},
        {"event": "node_finished", "data": {"outputs": {"text": "inner"}, "status": "succeeded"}},
        {"event": "text_chunk", "data": {"text": "有"}},
        {"event": "workflow_finished", **whole},
    )


def dify_retrieval(asked: Asked, variant: str) -> Reply:
    if asked.path != "/v1/datasets/set1/retrieve":
        return dify_error("not_found", "Dataset not found.", 404)
    query = asked.body.get("query")
    if not query or len(query) > 250:
        return dify_error("invalid_param", "query must not exceed 250 characters", 400)
    records = [
        {
            "segment": {"id": id, "content": halved(text)["q"], "answer": halved(text)["a"] or None, "document": {"name": source}},
            "score": score,
        }
        for id, text, score, source in fact(query).chunks
    ]
    return tell({"query": {"content": query}, "records": records})


# ------------------------------------------------------------------ RAGFlow
def ragflow_error(code: int, message: str) -> Reply:
    return tell({"code": code, "message": message, "data": False} if code == 109 else {"code": code, "message": message})


def ragflow_chunks(found: Fact) -> list[dict[str, Any]]:
    return [
        {"id": id, "content": text, "document_id": "d", "document_name": source, "dataset_id": "set1", "similarity": score}
        for id, text, score, source in found.chunks
    ]


def ragflow(asked: Asked, variant: str) -> Reply:
    old, body = asked.path == "/api/v1/chats/chat1/completions", asked.body
    if variant == "old" and not old:
        return tell({"code": 404, "message": "Not Found: /api/v1/chat/completions"}, 404)
    if not old and (asked.path != "/api/v1/chat/completions" or body.get("chat_id") != "chat1"):
        return ragflow_error(102, "You don't own the chat other")
    question = user_text(body)
    if question is None:
        return ragflow_error(101, "required argument are missing: messages; ")
    if variant == "model-error":
        return tell({"code": 500, "message": "no model", "data": {"answer": "**ERROR**: no model", "reference": []}})
    found = fact(question)
    reference = {"chunks": ragflow_chunks(found), "doc_aggs": [], "total": len(found.chunks)} if found.chunks else {}
    answer = f"{found.answer} [ID:0]" if found.chunks else found.answer
    if body.get("stream", True):
        return ragflow_stream(found.answer, answer, reference)
    return tell({"code": 0, "data": {"answer": answer, "reference": reference, "session_id": "s", "id": "i"}})


def ragflow_stream(text: str, whole: str, reference: dict[str, Any]) -> Reply:
    def piece(answer: str, **more: Any) -> dict[str, Any]:
        return {"code": 0, "message": "", "data": {"answer": answer, "final": False, "reference": {}, **more}}

    pieces = [piece("", start_to_think=True), piece("想"), piece("", end_to_think=True), *map(piece, halves(text))]
    ends = [piece(whole, final=True, reference=reference), {"code": 0, "data": True}]
    return stream(*(f"data:{orjson.dumps(p).decode()}\n\n" for p in [*pieces, *ends]))


def ragflow_openai(asked: Asked, variant: str) -> Reply:
    if asked.path != "/api/v1/openai/chat1/chat/completions":
        return ragflow_error(102, "You don't own the chat other")
    body, question = asked.body, user_text(asked.body)
    if question is None or not body.get("model"):
        return ragflow_error(102, "You have to provide messages.")
    found = fact(question)
    told = {"reference": ragflow_chunks(found)} if body.get("extra_body", {}).get("reference") else {}
    if not body["stream"]:
        return tell(completion(f"{found.answer} [ID:0]", **told) | {"usage": {"total_tokens": 3}})
    *pieces, end = deltas(found.answer)
    end["choices"][0]["delta"] = {"content": None, "final_content": f"{found.answer} [ID:0]", **told}
    return sse(*pieces, end, done=True)


def ragflow_retrieval(asked: Asked, variant: str) -> Reply:
    body = asked.body
    if asked.path != "/api/v1/retrieval" or body.get("dataset_ids") != ["set1"] or not body.get("question"):
        return ragflow_error(102, "You don't own the dataset other.")
    chunks = [
        {k: v for k, v in c.items() if k != "document_name"} | {"document_keyword": c["document_name"]}
        for c in ragflow_chunks(fact(body["question"]))
    ]
    return tell({"code": 0, "data": {"chunks": chunks, "doc_aggs": [], "total": len(chunks)}})


# ------------------------------------------------------------------ MaxKB
def maxkb_error(code: int, message: str, http: int = 200) -> Reply:
    return tell({"code": code, "message": message, "data": None}, http)


class MaxKb:
    """Keeps what was answered in each conversation, for the record."""

    def __init__(self) -> None:
        self.answered: dict[str, Fact] = {}

    def __call__(self, asked: Asked, variant: str) -> Reply:
        if asked.path == "/chat/api/open" and asked.method == "GET":
            self.answered[f"conv{len(self.answered)}"] = NOTHING
            return maxkb_error(500, "应用未发布") if variant == "unpublished" else self._fine(f"conv{len(self.answered) - 1}")
        if asked.path.startswith("/chat/api/chat_message/"):
            return self._ask(asked)
        *_, conversation, _, record = asked.path.split("/")
        if record != f"rec-{conversation}":
            return maxkb_error(500, "对话记录不存在")
        chunks = self.answered[conversation].chunks
        told = [{"id": i, "content": t, "similarity": s, "comprehensive_score": s, "document_name": d} for i, t, s, d in chunks]
        return self._fine({"id": record, **({} if variant == "hidden" else {"paragraph_list": told})})

    def _ask(self, asked: Asked) -> Reply:
        conversation, body = asked.path.rpartition("/")[2], asked.body
        if conversation not in self.answered or not body.get("message") or body.get("re_chat") is not False:
            return maxkb_error(500, "会话不存在")
        found = self.answered[conversation] = fact(body["message"])
        place = {"chat_id": conversation, "chat_record_id": f"rec-{conversation}", "id": f"rec-{conversation}", "operate": True}
        if body["stream"]:
            parts = [{**place, "content": part, "is_end": False} for part in halves(found.answer)]
            return sse(*parts, {**place, "content": "", "is_end": True})
        return self._fine({**place, "content": found.answer, "is_end": True, "completion_tokens": 5, "prompt_tokens": 7})

    @staticmethod
    def _fine(data: Any) -> Reply:
        return tell({"code": 200, "message": "成功", "data": data})


# ------------------------------------------------------------------ AnythingLLM, Open WebUI
def anythingllm(asked: Asked, variant: str) -> Reply:
    body = asked.body
    if not asked.path.startswith("/api/v1/workspace/team/"):
        return tell({"id": "u", "type": "abort", "error": "Workspace other is not a valid workspace.", "sources": [], "close": True}, 400)
    if not body.get("message") or body.get("mode") not in ("query", "chat") or not body.get("sessionId"):
        return tell({"id": "u", "type": "abort", "error": "message parameter cannot be empty.", "sources": [], "close": True}, 400)
    if variant == "abort":
        return tell({"id": "u", "type": "abort", "textResponse": None, "sources": [], "close": True, "error": "no model is set"})
    found = fact(body["message"])
    sources = [
        {
            "id": id,
            "title": source,
            "score": score,
            "text": f"<document_metadata>\nsourceDocument: {source}\n</document_metadata>\n\n{text}",
        }
        for id, text, score, source in found.chunks
    ]
    if asked.path.endswith("/stream-chat"):
        parts = [
            {"id": "u", "type": "textResponseChunk", "textResponse": part, "close": False, "error": False} for part in halves(found.answer)
        ]
        end = {"type": "textResponseChunk", "textResponse": "", "sources": sources, "close": True, "error": False}
        return sse(*({**p, "sources": []} for p in parts), end, {"type": "finalizeResponseStream", "close": True, "error": False})
    return tell({"id": "u", "type": "textResponse", "textResponse": found.answer, "sources": sources, "close": True, "error": None})


def open_webui(asked: Asked, variant: str) -> Reply:
    body, question = asked.body, user_text(asked.body)
    if asked.path != "/api/chat/completions" or question is None:
        return tell({"detail": "Not Found"}, 404)
    if body.get("model") != "llama":
        return tell({"detail": "Model not found"}, 400)
    found = fact(question)
    if not body["stream"]:
        return tell(completion(found.answer))
    metadata = [{"source": source, "name": source, "chunk_id": id} for id, _, _, source in found.chunks]
    source = {"source": {"id": "col", "name": "docs"}, "document": [c[1] for c in found.chunks], "metadata": metadata}
    return sse(
        {"sources": [{**source, "distances": [c[2] for c in found.chunks]}] if found.chunks else []}, *deltas(found.answer), done=True
    )


# ------------------------------------------------------------------ Coze
class Coze:
    """A bot; without a stream the chat is under way for one look."""

    def __init__(self) -> None:
        self.looks = 0
        self.found = NOTHING

    def __call__(self, asked: Asked, variant: str) -> Reply:
        if asked.path == "/v3/chat/retrieve":
            self.looks += 1
            done = "failed" if variant == "failed" else "completed"
            last = {"code": 720702222, "msg": "bot is busy"} if variant == "failed" else None
            return self._fine(
                {"id": "ch", "conversation_id": "co", "status": done if self.looks > 1 else "in_progress", "last_error": last}
            )
        if asked.path == "/v3/chat/message/list":
            return self._fine(self._messages(self.found))
        body = asked.body
        if asked.path != "/v3/chat" or not body.get("user_id") or not body.get("additional_messages"):
            return tell({"code": 4000, "msg": "Request parameter error"})
        if body.get("bot_id") != "bot1":
            return tell({"code": 4015, "msg": "The bot_id other has not been published to the channel Agent As API."})
        self.found = fact(body["additional_messages"][0]["content"])
        if not body["stream"]:
            return self._fine({"id": "ch", "conversation_id": "co", "status": "in_progress"})
        return self._streamed(variant)

    def _streamed(self, variant: str) -> Reply:
        if variant == "failed":
            return sse(("conversation.chat.failed", {"id": "ch", "status": "failed", "last_error": {"code": 5000, "msg": "bot is busy"}}))
        parts = [("conversation.message.delta", {"type": "answer", "content": part}) for part in halves(self.found.answer)]
        whole = [("conversation.message.completed", message) for message in self._messages(self.found)]
        return sse(
            ("conversation.chat.created", {"id": "ch"}),
            *parts,
            *whole,
            ("conversation.chat.completed", {"id": "ch", "usage": {"token_count": 8}}),
            ("done", '"[DONE]"'),
        )

    @staticmethod
    def _messages(found: Fact) -> list[dict[str, Any]]:
        chunks = [{"slice": t, "score": s, "id": i, "meta": {"document": {"name": d}}} for i, t, s, d in found.chunks]
        recall = {"msg_type": "knowledge_recall", "data": orjson.dumps({"chunks": chunks}).decode()}
        verbose = {"role": "assistant", "type": "verbose", "content": orjson.dumps(recall).decode()}
        return [verbose, {"role": "assistant", "type": "answer", "content": found.answer, "content_type": "text"}]

    @staticmethod
    def _fine(data: Any) -> Reply:
        return tell({"code": 0, "msg": "", "data": data})


# ------------------------------------------------------------------ OpenAI, LangServe, Hayhooks
def openai_error(message: str, http: int, code: str | None = None) -> Reply:
    return tell({"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}, http)


def responses(asked: Asked, variant: str) -> Reply:
    body = asked.body
    if asked.path != "/v1/responses" or not body.get("model") or not body.get("input"):
        return openai_error("Missing required parameter: 'model'.", 400)
    if body["tools"][0].get("vector_store_ids") != ["vs1"]:
        return openai_error("Vector store with id [other] not found.", 404)
    found = fact(body["input"])
    told = [{"file_id": id, "filename": source, "score": score, "text": text} for id, text, score, source in found.chunks]
    results = told if "file_search_call.results" in body.get("include", ()) and variant != "no-include" else None
    call = {"type": "file_search_call", "id": "fs", "status": "completed", "queries": ["q"], "results": results}
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": found.answer, "annotations": []}]}
    incomplete = variant == "incomplete"
    whole = {
        "id": "r",
        "status": "incomplete" if incomplete else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if incomplete else None,
        "output": [message] if variant == "no-search" else [call, message],
        "usage": {"total_tokens": 30},
    }
    if not body.get("stream"):
        return tell(whole)
    parts = [("response.output_text.delta", {"type": "response.output_text.delta", "delta": part}) for part in halves(found.answer)]
    return sse(*parts, ("response.completed", {"type": "response.completed", "response": whole}))


def openai(asked: Asked, variant: str) -> Reply:
    question = user_text(asked.body)
    if asked.path != "/v1/chat/completions" or question is None:
        return openai_error("Invalid URL", 404)
    if asked.body.get("model") != "small":
        return openai_error("The model `other` does not exist", 404, "model_not_found")
    found = fact(question)
    if variant == "azure":
        told = [{"content": t, "title": "t", "filepath": d, "chunk_id": i} for i, t, _, d in found.chunks]
        return tell(completion(f"{found.answer}[doc1]", context={"citations": told}))
    if asked.body["stream"]:
        return sse(*deltas(found.answer), done=True)
    return tell(completion(found.answer) | {"usage": {"total_tokens": 5}})


def langserve(asked: Asked, variant: str) -> Reply:
    if asked.path != "/rag/invoke":
        return tell({"detail": "Not Found"}, 404)
    given = asked.body.get("input")
    wanted = "x" if variant == "own-input" else "question"
    if not isinstance(given, dict) or set(given) != {wanted}:
        return tell({"detail": [{"loc": ["body", "input", wanted], "msg": "Field required", "type": "missing"}]}, 422)
    found = fact(given[wanted])
    documents = [
        {"page_content": t, "metadata": {"source": d, "score": s, "id": i}, "type": "Document", "id": None} for i, t, s, d in found.chunks
    ]
    shapes = {"text": found.answer, "message": {"content": found.answer, "type": "ai"}, "own-output": {"said": found.answer}}
    output = shapes.get(variant, {"answer": found.answer, "context": documents})
    return tell({"output": output, "metadata": {"run_id": "r", "feedback_tokens": []}})


def hayhooks(asked: Asked, variant: str) -> Reply:
    if asked.path != "/rag/run":
        return tell({"detail": "Pipeline 'other' not found"}, 404)
    wanted = "text" if variant == "own-argument" else "query"
    if set(asked.body) != {wanted}:
        return tell({"detail": [{"loc": ["body", wanted], "msg": "Field required", "type": "missing"}]}, 422)
    found = fact(asked.body[wanted])
    documents = [{"id": i, "content": t, "score": s, "meta": {"file_path": d}} for i, t, s, d in found.chunks]
    shapes: dict[str, Any] = {
        "text": found.answer,
        "replies": {"replies": [found.answer], "documents": documents},
        "message": {"llm": {"replies": [{"content": found.answer}]}, "retriever": {"documents": documents}},
        "own-output": {"said": found.answer},
    }
    return tell({"result": shapes.get(variant, {"answers": [{"data": found.answer, "documents": documents}]})})


def _refused_by_fastgpt() -> Reply:
    return fastgpt_error(514, "unAuthApiKey", "Api Key 不合法", 500)


def _refused_by_dify() -> Reply:
    return dify_error("unauthorized", "Access token is invalid", 401)


def _refused_by_ragflow() -> Reply:
    return ragflow_error(109, "Authentication error: API key is invalid!")


def _refused_by_openai() -> Reply:
    return openai_error("Incorrect API key provided.", 401, "invalid_api_key")


PLATFORMS: dict[str, tuple[Callable[[], Answering], Callable[[], Reply]]] = {
    "fastgpt": (lambda: fastgpt, _refused_by_fastgpt),
    "fastgpt-search": (lambda: fastgpt_search, _refused_by_fastgpt),
    "dify-chat": (lambda: dify_chat, _refused_by_dify),
    "dify-workflow": (lambda: dify_workflow, _refused_by_dify),
    "dify-retrieval": (lambda: dify_retrieval, _refused_by_dify),
    "ragflow": (lambda: ragflow, _refused_by_ragflow),
    "ragflow-openai": (lambda: ragflow_openai, _refused_by_ragflow),
    "ragflow-retrieval": (lambda: ragflow_retrieval, _refused_by_ragflow),
    "maxkb": (MaxKb, lambda: maxkb_error(1002, "身份验证信息不正确！非法用户", 401)),
    "anythingllm": (lambda: anythingllm, lambda: tell({"error": "No valid api key found."}, 403)),
    "open-webui": (lambda: open_webui, lambda: tell({"detail": "Not authenticated"}, 401)),
    "coze": (Coze, lambda: tell({"code": 4100, "msg": "authentication is invalid"}, 401)),
    "openai-responses": (lambda: responses, _refused_by_openai),
    "openai": (lambda: openai, _refused_by_openai),
    "langserve": (lambda: langserve, lambda: fail(401)),
    "hayhooks": (lambda: hayhooks, lambda: fail(401)),
}
"""How each platform is made, and how it refuses a key."""
