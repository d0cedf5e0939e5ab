"""The browser's own checks can fail: a check that cannot would prove nothing of the pages."""

GOOD = "<!doctype html><html lang='en'><title>A page</title><main><h1>A page</h1><p>Text.</p></main></html>"
BAD = "<!doctype html><html><main><img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='></main></html>"


def test_a_sound_page_passes(tmp_path, open_page, accessibility):
    path = tmp_path / "page.html"
    path.write_text(GOOD, encoding="utf-8")
    assert accessibility(open_page(path.as_uri())) == []


def test_faults_are_seen(tmp_path, open_page, accessibility):
    path = tmp_path / "page.html"
    path.write_text(BAD, encoding="utf-8")
    found = " ".join(accessibility(open_page(path.as_uri())))
    assert "image-alt" in found
    assert "html-has-lang" in found
    assert "document-title" in found


def test_complaints_of_the_console_are_heard(tmp_path, chromium):
    path = tmp_path / "page.html"
    path.write_text(GOOD.replace("<p>", "<script>console.error('heard')</script><p>"), encoding="utf-8")
    page = chromium.new_page()
    with page.expect_console_message() as said:
        page.goto(path.as_uri())
    assert (said.value.type, said.value.text) == ("error", "heard")
    page.close()
