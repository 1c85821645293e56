"""Headless Chromium of the system on the operator's page, and what can be measured in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from playwright.sync_api import Browser, Page, sync_playwright

# A browser of a test asks nobody but the page's server for anything, and runs as root too.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE, NARROW = (1440, 900), (390, 844)
Scheme = Literal["light", "dark"]

LOW_CONTRAST = """
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parse = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
  const light = (colour) => {
    const [r, g, b] = colour.map((one) => {
      const part = one / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) layers.push(parse(getComputedStyle(one).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const low = [];
  for (const element of document.querySelectorAll("body *:not(svg *)")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const back = ground(element);
    const [a, b] = [light(over(parse(getComputedStyle(element).color), back)), light(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${element.tagName} ${element.textContent.trim().slice(0, 40)}`);
  }
  return low;
}
"""
SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources, startTime } of list.getEntries()) {
    const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" ");
    const moved = sources.map(
      ({ node, previousRect, currentRect }) =>
        `${node?.tagName}.${node?.classList} from ${place(previousRect)} to ${place(currentRect)}`,
    );
    if (!hadRecentInput) window.shifts.push([value, `${location.hash} ${Math.round(startTime)}: ${moved.join(", ")}`]);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser; AssertionError where the system has none."""
    path = shutil.which("chromium")
    assert path, "Chromium is needed; on Debian: apt-get install chromium fonts-noto-cjk"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def window(
    browser: Browser,
    url: str,
    *,
    size: tuple[int, int] = WIDE,
    scheme: Scheme = "light",
    language: str = "en-GB",
) -> Iterator[Page]:
    """A fresh window on the page. Fails where the page has logged an error, opened a dialog or asked another host."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, locale=language
    )
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
    page.on("console", lambda said: faults.append(said.text) if _counts(said) else None)
    page.on("request", lambda asked: None if asked.url.startswith(url) else faults.append(asked.url))
    page.add_init_script(SHIFTS)
    page.goto(f"{url}/console")
    yield page
    context.close()
    assert not faults, faults


def _counts(said: Any) -> bool:
    """A refused token is no fault of the page, though the browser logs it."""
    return said.type in ("error", "warning") and not ("401" in said.text or "403" in said.text)


def low_contrast(page: Page) -> list[str]:
    """Texts that stand out too little from their ground (below 4.5 to 1)."""
    found: list[str] = page.evaluate(LOW_CONTRAST)
    return found


def overflows(page: Page) -> int:
    """Pixels by which the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def layout_shifts(page: Page) -> list[tuple[float, str]]:
    """How much moved by itself, and what it was; without what a person's own action moved."""
    return [(float(value), moved) for value, moved in page.evaluate("window.shifts")]
