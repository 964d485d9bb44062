"""The browser fixture itself: it has to see what it is there to see."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

PLANTED = {
    "outside request": '<img alt="" src="https://example.org/pixel.png">',
    "console": "<script>console.error('planted')</script>",
    "page error": "<script>throw new Error('planted')</script>",
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_fault_is_seen(open_page, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "page.html"
    file.write_text(f"<!doctype html><title>planted</title>{PLANTED[kind]}")
    page = open_page(file)
    assert kind in {fault[: len(kind)] for fault in page.tattler.faults}
    page.tattler.faults.clear()


def test_a_breach_of_the_content_security_policy_is_seen(open_page, tmp_path) -> None:
    policy = "default-src 'none'; script-src 'self'"
    file = tmp_path / "page.html"
    file.write_text(
        "<!doctype html><title>planted</title>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        "<script>document.title = 'ran'</script>"
    )
    page = open_page(file)
    assert page.title() == "planted"
    assert "Content Security Policy" in str(page.tattler.faults)
    page.tattler.faults.clear()
