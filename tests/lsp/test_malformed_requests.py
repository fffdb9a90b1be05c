"""Requests that the protocol does not allow are answered, and the server goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from lsp.editor import CMD

INITIALIZE = {"id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": None, "rootUri": None}}


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def message(content: dict[str, Any]) -> bytes:
    return framed(json.dumps({"jsonrpc": "2.0", **content}).encode())


def test_a_request_whose_parameters_are_not_what_they_should_be_is_answered() -> None:
    sent = [
        INITIALIZE,
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


def test_each_message_that_cannot_be_read_leaves_one_line_on_standard_error() -> None:
    uri = {"uri": "file:///a.py"}
    at = {"line": -1, "character": 10**12}
    odd = [
        framed(b"{nonsense"),
        framed(b"[1, 2]"),
        framed(b'{"jsonrpc":"2.0","id":3,"method":"x","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        framed(b'{"jsonrpc":"2.0","id":' + b"9" * 6_000 + b',"method":"shutdown"}'),
        message({"id": 2, "method": "textDocument/hover", "params": {"textDocument": uri, "position": at}}),
        message({"id": 3, "method": [], "params": {}}),
        message({"id": [4], "method": "shutdown"}),
        message({"id": 5, "method": "workspace/executeCommand", "params": {"command": "no\nsuch"}}),
        message({"id": 6, "error": "odd"}),
        message({"method": "$/cancelRequest", "params": {}}),
        message({"method": "$/setTrace", "params": {"value": "sideways"}}),
    ]
    sent = b"".join((message(INITIALIZE), *odd, message({"id": 9, "method": "shutdown"}), message({"method": "exit"})))
    done = subprocess.run([sys.executable, *CMD], input=sent, capture_output=True, timeout=600)
    assert b'"id": 9' in done.stdout
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == len(odd), done.stderr.decode()


def test_a_length_that_no_message_has_ends_the_server_with_one_line() -> None:
    sent = message(INITIALIZE) + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n"
    done = subprocess.run([sys.executable, *CMD], input=sent, capture_output=True, timeout=600)
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()
    assert "a message of the editor cannot be read" in line
