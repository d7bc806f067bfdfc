"""Headless Chromium for tests that look at a page: screenshots and measurements, nothing downloaded."""

import json
import os
import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import numpy as np

MIN_WINDOW = 500
"""Headless Chromium makes no narrower window; a phone is an iframe in a page of our own."""

SCHEMES = {"dark": 0, "light": 1}


def binary():
    """Path of a Chromium, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return os.environ.get("DIALOGAUGE_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def _run(args, page, folder, scheme):
    command = [
        binary(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={folder / 'profile'}", f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
        *args, page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def _framed(html, folder, width, height, script):
    """A page that holds the report in a frame of the width of a phone, and may ask it questions."""
    inner = html.replace("&", "&amp;").replace('"', "&quot;")
    page = folder / f"framed-{width}.html"
    page.write_text(
        '<!doctype html><meta charset="utf-8"><body style="margin:0">'
        f'<iframe id="f" style="border:0;display:block;width:{width}px;height:{height}px" '
        f'srcdoc="{inner}"></iframe>'
        '<pre id="answer"></pre>'
        f"<script>f.onload=()=>{{const d=f.contentDocument,w=f.contentWindow;"
        f"answer.textContent=JSON.stringify((()=>{{{script}}})())}}</script>",
        encoding="utf-8",
    )
    return page


def measure(html, folder: Path, script, *, width, scheme="light", height=900):
    """Run `script` (it sees `d`, the document, and `w`, its window) and return what it returns."""
    page = _framed(html, folder, width, height, script)
    size = f"--window-size={max(width, MIN_WINDOW)},{height}"
    dom = _run(["--virtual-time-budget=4000", size, "--dump-dom"], page, folder, scheme)
    answer = re.search(r'<pre id="answer">(.*?)</pre>', dom, re.DOTALL)
    text = answer[1].replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return json.loads(text)


def screenshot(html, folder: Path, *, width, height, scheme="light"):
    """Take a picture of the first `height` pixels; return its path."""
    page = _framed(html, folder, width, height, "return 1")
    path = folder / f"shot-{width}-{scheme}.png"
    size = f"--window-size={max(width, MIN_WINDOW)},{height}"
    _run(["--virtual-time-budget=4000", size, f"--screenshot={path}"], page, folder, scheme)
    return path


def pixels(path: Path):
    """Read an 8-bit RGB or RGBA PNG, shape (height, width, 3)."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    assert depth == 8
    channels = {2: 3, 6: 4}[colour]
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * channels)
    return _unfiltered(lines, channels).reshape(height, width, channels)[:, :, :3]


def _unfiltered(lines, step):
    out = np.zeros((len(lines), lines.shape[1] - 1), np.uint8)
    before = np.zeros(out.shape[1], np.int16)
    for y, line in enumerate(lines):
        kind, raw = line[0], line[1:].astype(np.int16)
        if kind == 2:
            raw = (raw + before) & 255
        elif kind:
            raw = _unfilter_line(kind, raw, before, step)
        out[y] = before = raw
        before = before.astype(np.int16)
    return out


def _unfilter_line(kind, raw, before, step):
    raw, before = raw.tolist(), before.tolist()
    for x in range(len(raw)):
        a = raw[x - step] if x >= step else 0
        b, c = before[x], before[x - step] if x >= step else 0
        if kind == 1:
            guess = a
        elif kind == 3:
            guess = (a + b) // 2
        else:
            p = a + b - c
            pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
            guess = a if pa <= pb and pa <= pc else b if pb <= pc else c
        raw[x] = (raw[x] + guess) & 255
    return np.array(raw, np.int16)
