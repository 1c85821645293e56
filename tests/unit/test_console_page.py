"""The operator's page: both languages say everything, and nothing in it can turn a text into markup."""

from __future__ import annotations

import re

from graph.server.console.page import ASSETS, HEADERS

WORD = re.compile(r'^  "([^"]+)": "((?:[^"\\]|\\.)*)",$', re.MULTILINE)
USED = re.compile(r'\bt\(\s*"([a-z.]+)"')
PLACE = re.compile(r"\{(\w+)\}")
SCRIPTS = {name: asset.content.decode() for name, asset in ASSETS.items() if name.endswith(".js")}
ENGLISH, CHINESE = (dict(WORD.findall(SCRIPTS[f"words-{name}.js"])) for name in ("en", "zh"))


def test_both_languages_have_the_same_words_with_the_same_places_to_fill() -> None:
    assert ENGLISH.keys() == CHINESE.keys()
    assert len(ENGLISH) > 100
    for key, text in ENGLISH.items():
        assert sorted(PLACE.findall(text)) == sorted(PLACE.findall(CHINESE[key])), key
        assert text.strip()
        assert CHINESE[key].strip()


def test_every_word_that_the_page_uses_is_there() -> None:
    used = {key for script in SCRIPTS.values() for key in USED.findall(script)}
    assert len(used) > 60
    assert used <= ENGLISH.keys()


def test_no_script_makes_markup_out_of_text() -> None:
    for name, script in SCRIPTS.items():
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
            assert way not in script, (name, way)


def test_the_page_asks_nobody_else_for_anything() -> None:
    for name, asset in ASSETS.items():
        text = asset.content.decode().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"(https?:)?//[a-z0-9-]+\.[a-z]", text), name


def test_the_page_is_complete_and_its_policy_allows_nothing_inline() -> None:
    named = set(re.findall(r"/console/page/([a-z.-]+)", ASSETS["index.html"].content.decode()))
    imported = {
        file for script in SCRIPTS.values() for file in re.findall(r'from "\./([a-z-]+\.js)"', script)
    }
    assert named | imported | {"index.html"} == ASSETS.keys()
    policy = HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(
        r"<script(?![^>]*src=)|<style|\sstyle=|\son[a-z]+=", ASSETS["index.html"].content.decode()
    )
