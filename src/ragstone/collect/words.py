"""The words a row's `error` may begin with."""

WORDS = (
    "timeout",
    "rate_limited",
    "server_error",
    "bad_gateway",
    "connection",
    "key",
    "app",
    "quota",
    "refused",
    "blocked",
    "platform_error",
    "error_answer",
    "login_page",
    "not_json",
    "no_answer",
    "empty_answer",
    "interactive",
    "no_chunk_text",
    "broken_stream",
    "too_large",
    "call_failed",
    "not_found",
)
"""Closed list; each has a sentence in the catalogue under `collected.word_<word>`.

key, app, quota: what would fail every row (exit 3). platform_error: the application says in a whole response that it failed.
error_answer: an error text stands where the answer should. no_answer: the place of the answer is empty (null). empty_answer: the answer
is "" or blanks. interactive: the application asks for input by a form instead of answering. no_chunk_text: chunks came without text and
the further request gave none. not_found: no row of the file of answers fits.
"""
