"""Headless Chromium for tests that look at a page: screenshots and measurements, nothing downloaded."""

import asyncio
import base64
import json
import os
import re
import shutil
import struct
import subprocess
import zlib
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
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


KEYS = {"Enter": 13, "Escape": 27, "Tab": 9, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39}
KEYS |= {"ArrowDown": 40, "Backspace": 8}
LOADED = "return document.readyState === 'complete' && !window.before && location.href !== 'about:blank'"
TEXT = {"Enter": "\r", "Escape": "", "Tab": "", "Backspace": ""}


class Tab:
    """A page in a running Chromium, driven through the DevTools protocol: real keys, real reloads."""

    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session

    async def send(self, method, **params):
        """Send a command of the protocol; return its result."""
        return await self.browser.send(method, self.session, **params)

    async def run(self, script):
        """Run the body of a function in the page; return what it returns, awaited."""
        done = await self.send(
            "Runtime.evaluate", expression=f"(async()=>{{{script}}})()", awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    async def until(self, script):
        """Wait until an expression is true."""
        for _ in range(1200):  # a minute: a tab in the background of a busy machine is slow
            if await self.run(f"return !!({script})"):
                return
            await asyncio.sleep(0.05)
        raise AssertionError(script)

    async def open(self, page):
        """Go to a page and wait until it is there."""
        await self.send("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        await self.loaded()

    async def reload(self):
        """Load the page anew; its script starts from what the browser kept."""
        await self.run("window.before = true")
        await asyncio.sleep(0.1)  # a busy browser takes the last value late
        await self.send("Page.reload")
        await self.loaded()

    async def loaded(self):
        """Wait for a page that is not the one before."""
        for _ in range(1200):  # a minute: a tab in the background of a busy machine is slow
            try:
                if await self.run(LOADED):
                    return
            except (AssertionError, RuntimeError):
                pass
            await asyncio.sleep(0.05)
        raise AssertionError("not loaded")

    async def press(self, *keys, modifiers=0):
        """Press and release keys: characters, or names such as Enter. Modifiers: 2 Ctrl, 8 Shift."""
        for key in keys:
            code = f"Digit{key}" if key.isdigit() else f"Key{key.upper()}" if len(key) == 1 else key
            text = "" if modifiers & 2 else TEXT.get(key, key if len(key) == 1 else "")
            named = {"key": key, "code": code, "modifiers": modifiers}
            named["windowsVirtualKeyCode"] = KEYS.get(key, ord(key[0].upper()) if key.isalnum() else 0)
            await self.send(
                "Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **named
            )
            await self.send("Input.dispatchKeyEvent", type="keyUp", **named)

    async def write(self, text):
        """Put a text in at the caret, as an input method does."""
        await self.send("Input.insertText", text=text)

    async def middle(self, selector):
        """Bring an element into sight; return where it is."""
        return await self.run(
            f"const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'nearest', inline: 'nearest'}); const b = e.getBoundingClientRect();"
            "return {x: b.x + b.width / 2, y: b.y + b.height / 2}"
        )

    async def click(self, selector):
        """Click the middle of an element with the mouse."""
        box = await self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            await self.send("Input.dispatchMouseEvent", type=kind, **box, button="left", clickCount=1)

    async def tap(self, selector):
        """Touch the middle of an element, and take the finger away."""
        box = await self.middle(selector)
        await self.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[box])
        await self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        await self.run("await new Promise((done) => setTimeout(done, 300))")

    async def size(self, width, height, *, touch=False, scheme="light"):
        """Make the window as large as a screen."""
        await self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=touch,
        )
        await self.send("Emulation.setTouchEmulationEnabled", enabled=touch)
        media = [{"name": "prefers-color-scheme", "value": scheme}]
        await self.send("Emulation.setEmulatedMedia", features=media)

    async def picture(self, path):
        """Write what the window shows as PNG."""
        data = (await self.send("Page.captureScreenshot"))["data"]
        path.write_bytes(base64.b64decode(data))
        return path


class Browser:
    """A running Chromium whose downloads go to a folder."""

    def __init__(self, socket):
        self.socket, self.number = socket, 0

    async def send(self, method, session=None, **params):
        """Send a command and wait for its answer; events are passed over."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        await self.socket.send_json(message | ({"sessionId": session} if session else {}))
        while True:
            reply = await self.socket.receive_json(timeout=60)
            if reply.get("id") == self.number:
                if "error" in reply:
                    raise RuntimeError(reply["error"])
                return reply["result"]

    async def tab(self):
        """Open a new tab."""
        target = (await self.send("Target.createTarget", url="about:blank"))["targetId"]
        session = (await self.send("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        one = Tab(self, target, session)
        await one.send("Page.enable")
        await one.size(1280, 900)
        return one


@asynccontextmanager
async def driven(folder):
    """Start a Chromium, to be driven; its downloads go to `folder / "saved"`."""
    profile = folder / "profile"
    process = await asyncio.create_subprocess_exec(
        binary(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank",
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        port = profile / "DevToolsActivePort"
        for _ in range(400):
            if port.exists() and port.read_text().count("\n"):
                break
            await asyncio.sleep(0.05)
        number, path = port.read_text().split()
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(f"ws://127.0.0.1:{number}{path}", max_msg_size=0) as socket,
        ):
            browser = Browser(socket)
            saved = str(folder / "saved")
            await browser.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=saved)
            try:
                yield browser
            finally:
                await browser.send("Browser.close")
    finally:
        try:
            await asyncio.wait_for(process.wait(), 10)
        except TimeoutError:
            process.kill()
            await process.wait()
