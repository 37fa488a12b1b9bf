"""Chats with members of every wrong shape, as an older program, a damaged file or an importer leaves them, in the page of the real host."""

import os

import pytest
from playwright.sync_api import expect
from program import PROGRAM, Host

# Fewer than the page draws at once.
HALVES = [[None, [], [1, None, {}, [], "x"], {}, {"length": 3}, "text"], ["", -1, 1e300, True, [[[]]], [{"name": None, "url": "javascript:alert(1)"}]]]
MEMBERS = ["thinking", "steps", "artifacts", "attachments", "imagePaths", "textFilePaths", "textFileNames", "stoppedBy", "tokenCount",
           "tokPerSec", "createdAt", "id", "content", "role", "truncated", "isVideo"]

# `make test` builds the program first, so there this runs; somebody who only works on the page need not have built it.
pytestmark = pytest.mark.skipif(not os.path.exists(PROGRAM), reason="There is no program: build it, or name it in ALCOVE_BIN.")


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp("strange"), "--port", "0", "--no-model").wait()
    yield host
    host.process.kill()
    host.process.wait()


@pytest.mark.parametrize("member", MEMBERS)
def test_a_strange_member_hides_no_message(open_page, real, member):
    for half, values in enumerate(HALVES):
        messages = [{"role": "user", "content": "The first."}]
        for number, value in enumerate(values):
            messages += [{"role": "user", "content": f"Question {number}.", member: value}, {"role": "assistant", "content": f"Answer {number}.", member: value}]
        messages += [{"role": "user", "content": "The last question."}, {"role": "assistant", "content": "The last answer."}]
        status, said = real.json("/api/agent/import", "POST", {"title": f"{member} {half}", "messages": messages})
        assert (status, said["imported"], said["failed"]) == (200, 1, [])
    # A picture that is not there is a 404 of its own, and no fault.
    page = open_page(f"{real.url}/?token={real.token}", allow=["404"])
    for half, values in enumerate(HALVES):
        page.get_by_text(f"{member} {half}", exact=True).first.click()
        expect(page.get_by_text("The last answer.")).to_be_visible()
        for number in range(len(values) if member not in ("content", "role") else 0):
            expect(page.get_by_text(f"Answer {number}.", exact=True)).to_be_attached()
