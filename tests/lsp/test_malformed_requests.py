"""Requests that the protocol does not allow are answered, and the server goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from lsp.editor import CMD


def test_a_request_whose_parameters_are_not_what_they_should_be_is_answered() -> None:
    def message(content: dict[str, Any]) -> bytes:
        body = json.dumps({"jsonrpc": "2.0", **content}).encode()
        return b"Content-Length: %d\r\n\r\n" % len(body) + body

    sent = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": None, "rootUri": None}},
        {"id": 2, "method": "textDocument/hover", "params": {}},
        {"id": "three", "method": "textDocument/codeAction", "params": {"textDocument": 5}},
        {"id": 4, "method": "shutdown"},
        {"method": "exit"},
    ]
    done = subprocess.run([sys.executable, *CMD], input=b"".join(map(message, sent)), capture_output=True, timeout=600)
    answers = [json.loads(part.partition(b"Content-Length")[0]) for part in done.stdout.split(b"\r\n\r\n")[1:]]
    told = {answer["id"]: "error" in answer for answer in answers if "id" in answer}
    assert told == {1: False, 2: True, "three": True, 4: False}
    assert done.returncode == 0
