"""A small RAG application to try the pipeline on: three passages of the handbook, and a local model that answers from them.

    python app.py [--port 8000] [--model qwen2.5:7b] [--base-url http://127.0.0.1:11434/v1]

POST /ask {"question": "…"} -> {"answer": "…", "contexts": [{"id", "text", "score"}]}.
Python's own library is enough; put your application in its place.
"""

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from urllib.request import Request, urlopen

PASSAGES = [json.loads(line) for line in (Path(__file__).parent / "handbook.jsonl").read_text(encoding="utf-8").splitlines()]
PROMPT = (
    "Answer in the language of the question, from these passages alone, in one or two sentences. "
    "If they do not hold the answer, say so and invent nothing.\n\n{passages}"
)


def pairs(text):
    """Neighbouring letters: the same for Chinese and English."""
    letters = [letter for letter in text.lower() if letter.isalnum()]
    return set(pairwise(letters))


def retrieve(question, most=3):
    """Return the passages that share most pairs of letters with the question."""
    asked = pairs(question)
    scored = [{**passage, "score": round(len(asked & pairs(passage["text"])) / max(1, len(asked)), 4)} for passage in PASSAGES]
    return sorted(scored, key=lambda passage: -passage["score"])[:most]


def answer(question, contexts, model, base_url):
    """Ask the local model."""
    system = PROMPT.format(passages="\n".join(f"- {passage['text']}" for passage in contexts))
    messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    body = json.dumps({"model": model, "messages": messages, "temperature": 0}).encode()
    request = Request(f"{base_url}/chat/completions", body, {"Content-Type": "application/json", "Authorization": "Bearer local"})
    with urlopen(request, timeout=600) as response:
        return json.load(response)["choices"][0]["message"]["content"]


def handler(model, base_url):
    """Return what takes requests."""

    class Ask(BaseHTTPRequestHandler):
        def do_POST(self):
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["question"]
            contexts = retrieve(question)
            try:
                status, told = 200, {"answer": answer(question, contexts, model, base_url), "contexts": contexts}
            except (OSError, KeyError, ValueError) as bad:
                status, told = 502, {"error": f"the model at {base_url} did not answer: {bad}"}
            reply = json.dumps(told, ensure_ascii=False).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_):
            pass

    return Ask


def main():
    """Serve until it is stopped; on this machine only."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("--port", type=int, default=8000)
    read.add_argument("--model", default="qwen2.5:7b")
    read.add_argument("--base-url", default="http://127.0.0.1:11434/v1")
    told = read.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", told.port), handler(told.model, told.base_url))
    print(f"http://127.0.0.1:{server.server_port}/ask", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
