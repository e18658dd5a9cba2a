"""What every request passes: its host, its origin, its size, its login and right; and the headers of every answer."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from review.pages.desk import BASE, log_in, page, rows, token_of, tokens
from service.review.pages.app import PLACES, hosts_of
from service.review.pages.guard import LOGIN_PATH
from service.review.pages.settings import PageSettings


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with page(tmp_path_factory.mktemp("local")) as client:
        yield client


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[TestClient]:
    file = tokens(tmp_path, haru="reader", nuri="reviewer", sora="admin")
    with page(tmp_path, page_token_file=file) as client:
        yield client


@pytest.mark.parametrize(
    "path",
    ["/", "/turn", "/review", "/uploads", "/nothing", "/static/page.css", "/static/page.js", "/healthz", "/metrics"],
)
def test_every_answer_has_its_headers(local: TestClient, path: str) -> None:
    headers = local.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert (headers.get("cache-control") == "no-store") == (not path.startswith("/static/"))


@pytest.mark.parametrize("path", ["/", "/review", "/uploads", "/accesses", "/checks?item=3", "/nothing"])
def test_no_page_holds_a_script_or_a_style_of_its_own(local: TestClient, path: str) -> None:
    text = local.get(path).text
    assert re.findall(r"<script(?! src=)", text) == []
    assert "<style" not in text
    assert not re.search(r"<[^>]* (style|on[a-z]+)=", text)


@pytest.mark.parametrize("host", ["evil.invalid", "127.0.0.1.evil.invalid", "evil.invalid:8765", "", "0.0.0.0"])  # noqa: S104
def test_on_loopback_a_foreign_name_is_refused(local: TestClient, host: str) -> None:
    answer = local.get("/", headers={"Host": host})
    assert answer.status_code == 421
    assert "이 이름으로는 열 수 없습니다" in answer.text
    assert not rows(answer.text)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8765", "localhost:1", "LOCALHOST", "[::1]:8765"])
def test_on_loopback_its_own_names_are_served(local: TestClient, host: str) -> None:
    assert local.get("/healthz", headers={"Host": host}).status_code == 200


def test_names_that_are_set_are_served_beside_the_address() -> None:
    named = hosts_of(PageSettings(page_hosts="Page.Example, other"))
    assert named == frozenset(("localhost", "127.0.0.1", "[::1]", "page.example", "other"))
    assert hosts_of(PageSettings(page_host="192.0.2.1")) is None
    assert hosts_of(PageSettings(page_host="192.0.2.1", page_hosts="page.example")) == frozenset(("page.example",))


POSTS = [place.path for place in PLACES if place.method == "POST"]


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Origin": BASE},
        {"Origin": "http://evil.invalid"},
        {"Origin": "null"},
        {},
    ],
)
def test_what_comes_from_elsewhere_changes_nothing(local: TestClient, path: str, headers: dict[str, str]) -> None:
    with TestClient(local.app, base_url=BASE, headers=headers) as stranger:
        answer = stranger.post(path, data={"lang": "en"}, follow_redirects=False)
    assert answer.status_code == 403
    assert "다른 곳에서 온 요청이라" in answer.text
    assert "set-cookie" not in answer.headers


def test_without_the_header_of_browsers_the_origin_decides(local: TestClient) -> None:
    with TestClient(local.app, base_url=BASE, headers={"Origin": BASE}) as own:
        assert own.post("/look", data={"lang": "en"}, follow_redirects=False).status_code == 303


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place.method} {place.path}")
def test_a_method_that_a_place_has_not_is_refused_in_words(local: TestClient, place: object) -> None:
    answer = local.delete(place.path)  # type: ignore[attr-defined]
    assert answer.status_code == 405
    assert "이 주소에서는 할 수 없는 일입니다" in answer.text


def test_without_a_login_nothing_is_shown(guarded: TestClient) -> None:
    for place in PLACES:
        answer = guarded.request(place.method, place.path, follow_redirects=False)
        assert not rows(answer.text)
        if place.right is not None:
            assert answer.status_code == (303 if place.method == "GET" else 401), place
    answer = guarded.get("/turn?session=S&turn=T", follow_redirects=False)
    assert answer.headers["location"] == "/login?back=%2Fturn%3Fsession%3DS%26turn%3DT"


def test_a_wrong_token_stays_out_and_is_not_said_again(guarded: TestClient) -> None:
    answer = guarded.post("/login", data={"token": "a-wrong-token-012345678", "back": "/"})
    assert answer.status_code == 403
    assert "맞는 토큰이 아닙니다" in answer.text
    assert "a-wrong-token" not in answer.text
    assert "set-cookie" not in answer.headers


def test_a_login_leads_back_and_a_logout_ends_it(guarded: TestClient) -> None:
    answer = guarded.post("/login", data={"token": token_of("haru"), "back": "/checks?item=2"}, follow_redirects=False)
    assert answer.headers["location"] == "/checks?item=2"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert token_of("haru") not in cookie
    assert rows(guarded.get("/").text)
    guarded.post("/logout")
    assert not rows(guarded.get("/").text)


@pytest.mark.parametrize(
    ("name", "rights"),
    [
        ("haru", {"read"}),
        ("nuri", {"read", "upload", "review"}),
        ("sora", {"read", "upload", "review", "export", "administer"}),
    ],
)
def test_a_role_gets_what_it_may_and_no_more(guarded: TestClient, name: str, rights: set[str]) -> None:
    log_in(guarded, name)
    for place in PLACES:
        if place.right is not None:
            refused = guarded.request(place.method, place.path, follow_redirects=False).status_code == 403
            assert refused == (place.right.value not in rights), place
    text = guarded.get("/").text
    assert ('href="/uploads"' in text) == ("upload" in rights)
    assert ('href="/accesses"' in text) == ("administer" in rights)


def test_who_opened_whose_chats_is_written_down(guarded: TestClient) -> None:
    log_in(guarded, "haru")
    href = rows(guarded.get("/").text)[0]
    guarded.get(href, headers={"X-Part": "1"})
    log_in(guarded, "sora")
    text = guarded.get("/accesses").text
    session = re.search(r"session=([^&]+)", href)
    assert session is not None
    assert f"<td>haru</td><td>회차 열람</td><td>{session[1]}</td>" in text


@pytest.mark.parametrize(("path", "size"), [("/look", 70_000), ("/uploads", 3_000_000), ("/evaluation", 3_000_000)])
def test_a_body_that_is_too_large_is_refused_by_its_header_and_by_its_length(
    tmp_path: Path, path: str, size: int
) -> None:
    with page(tmp_path, page_max_upload_bytes=2_000_000) as client:
        answer = client.post(path, content=b"x" * size)
        assert answer.status_code == 413
        assert "너무 큽니다" in answer.text

        def unsaid() -> Iterator[bytes]:
            for _ in range(size // 10_000):
                yield b"x" * 10_000

        kind = {"Content-Type": "multipart/form-data; boundary=b"}
        begun = b'--b\r\nContent-Disposition: form-data; name="turns"; filename="t.jsonl"\r\n\r\n'
        answer = client.post(path, content=iter([begun, *unsaid()]), headers=kind)
        assert answer.status_code == 413


def test_a_form_that_is_none_is_said_in_words(local: TestClient) -> None:
    answer = local.post("/uploads", content=b"nonsense", headers={"Content-Type": "multipart/form-data; boundary=b"})
    assert answer.status_code == 400
    assert "파일을 하나 이상" in answer.text or "요청을 알아볼 수 없습니다" in answer.text


def test_a_fault_of_ours_is_a_page_and_a_line_without_its_message(
    local: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from service.logs import OneLine

    def fail(*given: object) -> None:
        raise RuntimeError("선거 얘기가 담긴 답장")

    monkeypatch.setattr("service.review.store.queries.row", fail)
    with caplog.at_level(logging.ERROR):
        answer = local.get("/turn?session=S&turn=T")
    assert answer.status_code == 500
    assert "저희 쪽에서 문제가 생겼습니다" in answer.text
    assert "RuntimeError" not in answer.text
    lines = [OneLine().format(record) for record in caplog.records]
    assert any("RuntimeError" in line for line in lines)
    assert not any("선거" in line for line in lines)


def test_the_login_page_is_not_there_where_nobody_logs_in(local: TestClient) -> None:
    assert local.get(LOGIN_PATH).status_code == 404
