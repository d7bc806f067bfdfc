"""The rating page in a real browser: keys, reloads and downloads as a rater makes them."""

import asyncio
import json
import shutil
from contextlib import asynccontextmanager

import pytest

from browser import driven
from dialogauge.annotate.page import rating_page
from parsed_pages import needs_chromium
from rating_tasks import BREAD, OVERALL, PREFERENCE, RELEVANCE, example

pytestmark = [pytest.mark.chromium, needs_chromium]

WATCH = "const errors = []; addEventListener('error', (event) => errors.push(event.message))"
RIGHTS = {"plan": "4f1c0a", "rater": "R1"}


@asynccontextmanager
async def opened(folder, task=None, before="", size=(1280, 860)):
    """A rating page, opened from disk in a browser of its own; `before` runs before its script."""
    page = folder / "R1.html"
    page.write_text(rating_page(task or example()), encoding="utf-8")
    async with driven(folder) as browser:
        tab = await browser.tab()
        await tab.send("Page.addScriptToEvaluateOnNewDocument", source=f"{WATCH};{before}")
        await tab.size(*size, touch=size[0] < 500)
        await tab.open(page)
        yield tab
        assert await tab.run("return errors") == []


async def saved(folder, name="R1.jsonl"):
    """Wait for the saved file; return its rows and take it away."""
    path, size = folder / "saved" / name, -1
    for _ in range(200):
        before, size = size, path.stat().st_size if path.exists() else -1
        if 0 <= before == size:
            rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            shutil.move(path, folder / name)
            return rows
        await asyncio.sleep(0.05)
    raise AssertionError(sorted((folder / "saved").iterdir()))


def plain(rows):
    """Return rows without time, which no test can know; it is there where it should be."""
    rows = list(rows)
    for row in rows:
        assert row.pop("at").endswith("Z")
        assert row.pop("seconds", 0) >= 0
    return rows


def score(item, turn, dimension, value, **more):
    conversation = {"i01": "c12", "i02": "i02"}[item]
    return {**RIGHTS, "item": item, "conversation_id": conversation, "turn": turn, "dimension": dimension,
            "score": value, **more}  # fmt: skip


async def state(tab):
    """Return what a rater sees of the place: conversation, group, question, its chosen score."""
    return await tab.run(
        "const q = s => document.querySelector(s)?.textContent;"
        "return [q('.where'), q('.parts [aria-current]'), q('.ask.here h3'),"
        " q('.ask.here [aria-checked=true] b') ?? null]"
    )


async def test_a_whole_assignment_by_keyboard_reloaded_half_way(tmp_path):
    async with opened(tmp_path) as tab:
        await tab.press("Enter")
        assert await state(tab) == ["1 of 3", "Turn 1", "Relevance", None]
        await tab.press("4", "1")
        assert await state(tab) == ["1 of 3", "Turn 2", "Relevance", None]
        await tab.press("2", "1", "5")  # the turn is not left without the reason for the 2, and the 5 refused
        assert await state(tab) == ["1 of 3", "Turn 2", "Relevance", "2"]
        assert "First the reason" in await tab.run("return toast.textContent")
        await tab.press("b", "3", "0", "j")  # unless one wants to
        assert await state(tab) == ["1 of 3", "Overall", "Coming back", None]
        await tab.reload()
        assert await state(tab) == ["1 of 3", "Overall", "Coming back", None]
        await tab.press("4")
        assert await state(tab) == ["1 of 3", "Turn 3", "Relevance", "3"]
        await tab.press("Enter", "c", "Enter")
        assert await state(tab) == ["2 of 3", "Turn 2", "Relevance", None]
        await tab.press("5", "1", "1", "r")
        await tab.write("Nobody bakes an hour\nlonger than asked.")
        await tab.press("Enter", "Enter")
        assert await state(tab) == ["3 of 3", None, "Preference", None]
        await tab.press("3", "Enter", "g", "n")
        assert await tab.run("return document.querySelector('h1').textContent") == "All done, thank you"
        await tab.press("Enter")
        assert plain(await saved(tmp_path)) == [
            score("i01", 1, "relevance", 4),
            score("i01", 1, "courtesy", 1),
            score("i01", 2, "relevance", 2, reason="forgets what was said"),
            score("i01", 2, "courtesy", 1),
            score("i01", 3, "relevance", 3, reason="invents something"),
            score("i01", 3, "courtesy", 0),
            score("i01", None, "return", 4),
            score("i02", 2, "relevance", 5),
            score("i02", 2, "courtesy", 1),
            score("i02", None, "return", 1, note="Nobody bakes an hour\nlonger than asked."),
            {**RIGHTS, "item": "p03", "conversation_id": "c30", "dimension": "preference", "winner": "right"},
        ]


@pytest.mark.parametrize("words", [["--blind"], ["--blind", "--pairs"]])
async def test_what_is_made_is_rated_by_keys_and_imported(tmp_path, dialogauge, log, talk, words):
    replies = {"a": ("It opens at nine.", "Free on Sundays."), "b": ("At nine.", "I cannot say.")}
    records = [
        talk("x", *replies[name]) | {"conversation_id": f"c{n}-{name}", "candidate": f"model-{name}"}
        for n in range(2)
        for name in replies
    ]
    done = await asyncio.to_thread(
        dialogauge, "annotate", "make", log(*records), "--raters", 1, "--each", 2, "-o", "rating", *words
    )
    assert done.code == 0, done.err
    pairs = "--pairs" in words
    async with driven(tmp_path) as browser:
        tab = await browser.tab()
        await tab.open(tmp_path / "rating" / "pages" / "R1.html")
        assert "model-" not in await tab.run("return document.documentElement.outerHTML")
        await tab.press("Enter", *"1" if pairs else "43a5245")  # a: the first reason for the 3
        await tab.reload()
        await tab.press("Enter", *"3" if pairs else "554321", "Enter", "Enter")
        await saved(tmp_path)
    done = await asyncio.to_thread(dialogauge, "annotate", "import", "rating", tmp_path / "R1.jsonl")
    assert done.code == 0, done.out + done.err
    name = "pairs.jsonl" if pairs else "ratings.jsonl"
    rows = [json.loads(line) for line in (tmp_path / "rating" / name).read_text("utf-8").splitlines()]
    if pairs:
        plan = json.loads((tmp_path / "rating" / "plan.json").read_text("utf-8"))
        left = {item["id"]: item["left"]["R1"] for item in plan["items"]}
        first, second = plan["raters"][0]["items"]
        right = {"a": "b", "b": "a"}[left[second]]
        assert {row["item"]: row["winner"] for row in rows} == {first: left[first], second: right}
    else:
        scores = [4, 3, 5, 2, 4, 5, 5, 5, 4, 3, 2, 1]
        assert [row["score"] for row in rows] == scores
        assert [row["turn"] for row in rows] == 2 * [1, 2, None, None, None, None]
        assert [row.get("reason") for row in rows] == [None, "insufficient_detail", *10 * [None]]
        assert {row["candidate"] for row in rows} <= {"model-a", "model-b"}


async def test_a_file_saved_half_way_goes_on_in_another_browser(tmp_path):
    async with opened(tmp_path) as tab:
        await tab.press("Enter", "4", "1", "2", "r")
        await tab.write("晚了")
        await tab.press("Enter", "n", "n", "2")
        await tab.press("s", modifiers=2)  # Ctrl+S saves the answers, not the page
        first = await saved(tmp_path)
        assert "1 of 3 finished" in await tab.run("return toast.textContent")
    lines = [json.dumps(row) for row in first]
    other = json.dumps({**first[0], "plan": "of another"})
    wrong = [json.dumps({**first[0], "score": value}) for value in (9, "4", None, 4.5)]
    wrong += [json.dumps({**first[0], **change}) for change in ({"at": "noon"}, {"turn": 9})]
    odd = ["{", "null", "[]", '"x"']
    (tmp_path / "given.jsonl").write_text("\r\n".join([*lines, other, *wrong, *odd, ""]), encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with opened(elsewhere) as tab:
        await tab.run("window.root = document.querySelector('input[type=file]')")
        node = (await tab.send("Runtime.evaluate", expression="root"))["result"]["objectId"]
        await tab.send("DOM.setFileInputFiles", objectId=node, files=[str(tmp_path / "given.jsonl")])
        await tab.until("toast.textContent")
        shown = await tab.run("return toast.textContent")
        assert shown.startswith("4 answers taken from the file, 11 lines left out")
        await tab.run("save()")
        assert await saved(elsewhere) == first
        await tab.press("Enter")
        assert (await state(tab))[1:] == ["Turn 2", "Courtesy", None]


async def test_undo_goes_back_step_by_step_and_survives_a_reload(tmp_path):
    async with opened(tmp_path) as tab:
        await tab.press("u")
        assert await tab.run("return toast.textContent") == "Nothing to undo."
        await tab.press("Enter", "4", "1", "r")  # a note on what was answered last, in the turn before
        await tab.write("kind")
        await tab.press("Enter")
        assert (await state(tab))[1:3] == ["Turn 2", "Relevance"]
        assert await tab.run("return rowsOf(TASK.items[0]).at(-1).note") == "kind"
        await tab.press("u", "k", "j", "2", "a", "u")
        assert await tab.run("return rowsOf(TASK.items[0]).at(-1).reason") is None
        await tab.press("b")
        await tab.reload()
        await tab.press("z", modifiers=2)
        await tab.press("u")
        assert await state(tab) == ["1 of 3", "Turn 2", "Relevance", None]
        await tab.press("u", "u")
        assert await state(tab) == ["1 of 3", "Turn 1", "Relevance", None]
        assert await tab.run("return fileText()") == ""


async def test_skip_and_flag_ask_for_a_reason_and_can_be_taken_back(tmp_path):
    async with opened(tmp_path) as tab:
        await tab.press("Enter", "4", "s", "Enter")  # without a reason nothing is skipped
        assert await tab.run("return !!document.querySelector('dialog[open]')")
        await tab.write("Not my language")
        await tab.press("Enter")
        assert (await state(tab))[0] == "2 of 3"
        await tab.press("f")
        await tab.write("Has a phone number")
        await tab.press("Enter", "5", "s")
        await tab.write("never mind")
        await tab.press("Escape")
        assert plain(json.loads(line) for line in (await tab.run("return fileText()")).splitlines()) == (
            rows := [
                {**RIGHTS, "item": "i01", "conversation_id": "c12", "skipped": "Not my language"},
                score("i02", 2, "relevance", 5),
                {**RIGHTS, "item": "i02", "conversation_id": "i02", "flagged": "Has a phone number"},
            ]
        )
        assert len(rows) == 3
        await tab.press("p", "j", "2")  # rated after all, what was rated before is there again
        assert await tab.run("return fileText().includes('skipped')") is False
        assert await tab.run("return rowsOf(TASK.items[0]).map(r => [r.turn, r.score])") == [[1, 4], [2, 2]]
        await tab.press("u")
        assert await tab.run("return rowsOf(TASK.items[0]).length") == 1
        await tab.press("n", "f")
        await tab.run("document.querySelector('dialog textarea').value = ''")
        await tab.press("Enter")
        assert await tab.run("return fileText().includes('flagged')") is False


async def test_first_unfinished_turns_items_and_help(tmp_path):
    async with opened(tmp_path) as tab:
        await tab.press("Enter", "j", "j", "j", "j")
        assert (await state(tab))[1] == "Overall"
        await tab.press("k", "ArrowRight", "ArrowRight", "ArrowRight")
        assert await tab.run("return document.querySelector('h1').textContent") == "Nearly done"
        await tab.press("g")
        assert (await state(tab))[:2] == ["1 of 3", "Turn 1"]
        await tab.press("ArrowRight", "ArrowLeft", "Enter")
        assert "7 left here" in await tab.run("return toast.textContent")
        await tab.press("?", "4", "Escape")
        assert await tab.run("return fileText()") == ""
        await tab.press("Tab", "ArrowRight", "ArrowRight", " ")  # as a screen reader does
        assert await tab.run("return rowsOf(TASK.items[0])[0].score") == 3
        assert (await state(tab))[2] == "Courtesy"
        await tab.press("7", "x", "a", "~")
        assert await tab.run("return rowsOf(TASK.items[0]).map(r => [r.dimension, r.reason])") == [
            ["relevance", "misses the question"]
        ]
        french = {"type": "rawKeyDown", "key": "&", "code": "Digit1"}
        await tab.send("Input.dispatchKeyEvent", **french)
        assert await tab.run("return rowsOf(TASK.items[0]).map(r => r.score)") == [3, 1]


async def test_what_cannot_be_copied_is_shown_to_be_copied_by_hand(tmp_path):
    nowhere = "Object.defineProperty(navigator, 'clipboard', {value: undefined})"
    async with opened(tmp_path, before=nowhere) as tab:
        await tab.press("Enter", "4", "n", "n", "n")
        await tab.run(
            "[...app.querySelectorAll('button')].find(b => b.textContent.startsWith('Copy')).click()"
        )
        assert await tab.run("return document.querySelector('textarea').value === fileText()")
        await tab.press("Enter")
        await tab.run("document.activeElement.blur()")
        await tab.press("u", "g", "n", "n", "n", "p")
        assert (await state(tab))[0] == "3 of 3"


async def test_scales_long_of_fractions_below_zero_and_binary(tmp_path):
    def scale(name, low, high, **more):
        return {"name": name, "level": "conversation", "title": name, "low": low, "high": high, **more}

    questions = [
        scale("percent", 0, 100), scale("share", 0, 1, integer=False, reason_for=[0, 1]),
        scale("sign", -2, 2), scale("ten", 1, 10), scale("eleven", 0, 10), scale("seven", 1, 7),
        scale("half", 0.5, 5),
    ]  # fmt: skip
    task = example(questions=questions, items=[{"id": "i02", "about": {}, "turns": [], "messages": BREAD}])
    async with opened(tmp_path, task) as tab:
        await tab.press("Enter", "7", "2", "Enter")
        await tab.press("0", ".", "7", "5", "Enter", "r")
        await tab.write("most")
        await tab.press("Enter")
        await tab.press("1", "1", "0", "Enter", "1", "0", "Enter", "7")
        await tab.press("4", ",", "5", "Enter")
        assert await tab.run("return rowsOf(TASK.items[0]).map(r => [r.dimension, r.score, r.note])") == [
            ["percent", 72, None], ["share", 0.75, "most"], ["sign", -2, None], ["ten", 10, None],
            ["eleven", 10, None], ["seven", 7, None], ["half", 4.5, None],
        ]  # fmt: skip
        await tab.press("k", "p")
        await tab.click("[data-key='|percent'] .typed")
        await tab.press("9", "9", "9", "Enter")
        assert await tab.run("return toast.textContent") == "A whole number from 0 to 100"
        assert await tab.run("return rowsOf(TASK.items[0])[0].score") == 72


async def test_two_tabs_of_one_page_lose_nothing(tmp_path):
    async with opened(tmp_path) as one:
        other = await one.browser.tab()
        await other.open(tmp_path / "R1.html")

        async def both(scores):  # a browser brings what one tab keeps to the other in its own time
            for tab in (one, other):
                await tab.until(f"rowsOf(TASK.items[0]).map(r => r.score).join() === '{scores}'")

        await one.press("Enter", "4", "1")
        await both("4,1")
        await other.press("Enter", "5")
        await both("4,1,5")
        await one.press("4")  # the same question, answered later
        await both("4,1,4")
        await other.press("1")
        await both("4,1,4,1")
        assert "open a second time" in await one.run("return toast.textContent")


async def test_a_browser_that_keeps_nothing_is_said_and_can_be_saved(tmp_path):
    get = "{get() { throw new DOMException('no', 'SecurityError') }}"
    refuse = f"Object.defineProperty(window, 'localStorage', {get})"
    async with opened(tmp_path, before=refuse) as tab:
        warning = await tab.run("return document.querySelector('[role=alert]').innerText")
        assert "does not keep your answers" in warning
        await tab.press("Enter", "4", "1", "u")
        await tab.run("save()")
        assert plain(await saved(tmp_path)) == [score("i01", 1, "relevance", 4)]


async def test_a_store_that_is_full_or_damaged_stops_nobody(tmp_path):
    full = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"
    async with opened(tmp_path) as tab:
        await tab.press("Enter", "4")
        damage = "for (const key of Object.keys(localStorage)) localStorage[key] = '{'"
        tab = await tab.browser.tab()
        await tab.send("Page.addScriptToEvaluateOnNewDocument", source=damage)
        await tab.open(tmp_path / "R1.html")
        await tab.press("Enter", "5")
        assert await tab.run("return rowsOf(TASK.items[0])[0].score") == 5
        await tab.run(full)
        await tab.press("1")
        assert await tab.run("return !document.querySelector('[role=alert]').hidden")
        assert await tab.run("return rowsOf(TASK.items[0]).length") == 2


async def test_time_is_counted_while_the_page_is_seen_and_used(tmp_path):
    clock = "window.shift = 0; const real = Date.now; Date.now = () => Math.floor(real() / 1e9) * 1e9 + shift"
    wait = "for (let s = 0; s < {n}; s++) {{ shift += 1000; tick() }}"
    async with opened(tmp_path, before=clock) as tab:
        await tab.run(wait.format(n=30))  # on the first screen nothing is counted
        await tab.press("Enter")
        await tab.run(wait.format(n=10))
        await tab.press("4")
        assert await tab.run("return rowsOf(TASK.items[0])[0].seconds") == 10
        await tab.run(wait.format(n=300))  # away: the first minute is counted
        await tab.press("1")
        assert await tab.run("return rowsOf(TASK.items[0])[0].seconds") == 69
        await tab.run(
            "Object.defineProperty(document, 'visibilityState', {get: () => 'hidden'});" + wait.format(n=10)
        )
        await tab.press("2")
        assert await tab.run("return rowsOf(TASK.items[0])[0].seconds") == 69


ATTACKS = [
    "<img src=x onerror='window.__pwned=1'>", "<script>window.__pwned=1</script>",
    "</script><script>__pwned=1</script>",
    "<svg onload=window.__pwned=1>", "<iframe srcdoc='<script>parent.__pwned=1</script>'>", "<!--<script>",
    "[a](javascript:window.__pwned=1)", "\u202egnp.exe\u202c", "\0\x1b[2J\u2028", "${__pwned=1}{{__pwned=1}}",
    "**<b onclick=__pwned=1>x</b>**\n- <a href='javascript:__pwned=1'>y</a>", "__proto__",
    "</textarea></style>",
]  # fmt: skip


@pytest.mark.parametrize("policy", [True, False])
async def test_hostile_text_is_shown_as_text_and_never_runs(tmp_path, policy):
    text = "\n".join(ATTACKS)
    call = {"name": text, "arguments": text}
    messages = [
        {"role": role, "turn": 1, "text": text, "name": text, "calls": [call]}
        for role in ("system", "user", "tool", "assistant", "<b>")
    ]
    long = [{"role": "assistant", "turn": 2, "text": "x" * 1_000_000}]
    question = {**RELEVANCE, "name": text, "title": text, "text": text, "reasons": ATTACKS[:3]}
    question["anchors"] = {"1": text, "2": text, "5": text}
    item = {"id": "__proto__", "conversation_id": text, "about": {text: text}, "turns": [1, 2]}
    pair = {**item, "id": text, "messages": messages, "left": messages, "right": messages}
    task = example(
        title=text, introduction=text, questions=[question, {**PREFERENCE, "name": text}],
        items=[{**item, "messages": messages + long}, pair],
    )  # fmt: skip
    html = rating_page(task)
    async with opened(tmp_path, task) as tab:
        if not policy:
            bare = html.replace('http-equiv="Content-Security-Policy"', "", 1)
            (tmp_path / "bare.html").write_text(bare, encoding="utf-8")
            await tab.open(tmp_path / "bare.html")
        await tab.press("Enter")
        seen = await tab.run("return app.textContent")
        for attack in ATTACKS[:6]:
            assert attack in seen
        assert "⟨U+202E⟩gnp.exe⟨U+202C⟩" in seen
        assert "⟨U+0000⟩⟨U+001B⟩[2J⟨U+2028⟩" in seen
        assert len(seen) < 100_000
        await tab.run(
            "for (const e of app.querySelectorAll('*')) for (const kind of ['mouseover', 'focus'])"
            "  e.dispatchEvent(new Event(kind));"
            "app.querySelectorAll('summary').forEach(e => e.click())"
        )
        await tab.press("2", "a", "Enter", "5", "?", "Escape", "Enter", "2", "f")
        await tab.write(text)
        await tab.press("Enter", "Enter")
        await tab.reload()
        await asyncio.sleep(0.2)
        assert await tab.run("return [typeof window.__pwned, document.scripts.length]") == ["undefined", 3]
        foreign = "img, iframe, svg, a, object, embed, form"
        assert await tab.run(f"return document.querySelectorAll('{foreign}').length") == 0
        await tab.run("save()")
        rows = await saved(tmp_path)
        assert {row["item"] for row in rows} == {"__proto__", text}
        assert rows[0]["dimension"] == text
        assert rows[0]["reason"] == ATTACKS[0]
        if policy:
            assert await tab.run(BREAK_OUT) == ["connect-src", "img-src", "script-src-elem", "style-src-attr"]
            assert await tab.run("return typeof window.__pwned") == "undefined"


BREAK_OUT = """
const refused = [];
document.addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
const script = document.createElement("script");
script.textContent = "window.__pwned = 1";
document.body.append(script);
document.body.setAttribute("style", "color: red");
new Image().src = "http://127.0.0.1:9/x.png";
await fetch("http://127.0.0.1:9/x").catch(() => 0);
await new Promise((done) => setTimeout(done, 100));
return refused.sort();
"""


async def test_chinese_and_back(tmp_path):
    async with opened(tmp_path, example(language="zh-CN")) as tab:
        assert await tab.run("return document.documentElement.lang") == "zh-CN"
        assert "开始" in await tab.run("return document.querySelector('.main').innerText")
        await tab.press("Enter", "2")
        seen = await tab.run("return document.body.innerText")
        for words in ("第 1 / 3 个", "评这一轮", "为什么是 2？", "撤销", "跳过"):
            assert words in seen
        await tab.click(".bar .link")
        assert "rate this turn" in await tab.run("return document.body.innerText")
        await tab.reload()
        assert "rate this turn" in await tab.run("return document.body.innerText")


PHONE = """
const small = [...document.querySelectorAll("button, summary, textarea, .load")].filter((e) => {
  const box = e.getBoundingClientRect();
  return box.width && !e.closest(".md, .chat") && (box.height < 43.5 || box.width < 43.5);
});
return [document.documentElement.scrollWidth, small.map((e) => e.outerHTML)];
"""
SIDES = "return ['left', 'right'].filter((name) => document.querySelector(`.${name}`).offsetParent)"
CONTRAST = """
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const rgb = (colour, under) => {
  canvas.fillStyle = under; canvas.fillRect(0, 0, 1, 1);
  canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const css = (parts) => `rgb(${parts.join(",")})`;
const light = (parts) => parts.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
const poor = [];
for (const e of document.body.querySelectorAll("*")) {
  if (!e.offsetParent || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
  const chain = [];
  for (let up = e; up; up = up.parentElement) chain.unshift(getComputedStyle(up).backgroundColor);
  const ground = chain.reduce((under, colour) => css(rgb(colour, under)), "white");
  const style = getComputedStyle(e);
  canvas.globalAlpha = 1;
  const ink = rgb(style.color, ground);
  const mixed = ink.map((v, at) => v * style.opacity + rgb(ground, "white")[at] * (1 - style.opacity));
  const [low, high] = [light(mixed), light(rgb(ground, "white"))].sort((a, b) => a - b);
  if ((high + 0.05) / (low + 0.05) < 4.5) poor.push([e.outerHTML.slice(0, 200), style.color, ground]);
}
return poor;
"""


async def test_a_phone_by_touch_alone(tmp_path):
    async with opened(tmp_path, size=(390, 800)) as tab:

        async def fits():
            for width in (360, 390):
                await tab.size(width, 800, touch=True)
                wide, small = await tab.run(PHONE)
                assert (wide, small) == (width, [])

        await fits()
        await tab.tap(".main")
        await fits()
        for label in ("4", "1", "2"):
            await tab.tap(f".here [role=radio][aria-label^='{label}']")
        await fits()
        await tab.tap(".cause.keyed .reasons button:nth-child(2)")
        for label in ("0", "5", "1"):
            await tab.tap(f".here [role=radio][aria-label^='{label}']")
        assert (await state(tab))[2] == "Coming back"
        await tab.tap(".here .stepper button")
        assert (await state(tab))[1:] == ["Turn 3", "Courtesy", "1"]
        await tab.tap(".here .stepper button:last-child")
        await tab.tap(".here [role=radio][aria-label^='4']")
        await tab.tap(".go")
        assert (await state(tab))[0] == "2 of 3"
        await tab.tap(".panel footer button:nth-child(2)")
        await fits()
        await tab.write("why not")
        await tab.tap("dialog .main")
        assert await tab.run(SIDES) == ["left"]
        await tab.tap(".switch button:last-child")
        assert await tab.run(SIDES) == ["right"]
        await fits()
        await tab.tap(".here [role=radio]:nth-child(2)")
        await tab.tap(".go")
        await fits()
        await tab.tap(".main")
        rows = plain(await saved(tmp_path))
        values = [row.get("score", row.get("winner", row.get("skipped"))) for row in rows]
        assert values == [4, 1, 2, 0, 5, 1, 4, "why not", "tie"]
        assert rows[2]["reason"] == "forgets what was said"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_text_can_be_read(tmp_path, scheme):
    async with opened(tmp_path) as tab:
        for width in (1280, 390):
            await tab.size(width, 860, scheme=scheme)
            await tab.run(
                "localStorage.clear(); own.clear(); TASK.items.forEach(latest); place.screen = 'start';"
                "showScreen()"
            )
            for keys in (
                ["Enter"],
                ["4", "1"],
                ["2"],
                ["b"],
                ["f"],
                ["Escape", "3", "4", "n", "3", "n", "1", "n"],
            ):
                assert await tab.run(CONTRAST) == [], keys
                await tab.press(*keys)
            assert await tab.run(CONTRAST) == []


async def test_names_and_roles_are_there(tmp_path):
    async with opened(tmp_path) as tab:
        await tab.press("Enter", "2")
        tree = (await tab.send("Accessibility.getFullAXTree"))["nodes"]
        roles = {}
        for node in tree:
            if not node["ignored"]:
                roles.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
        assert roles["radiogroup"] == [f"{q['title']}. {q['text']}" for q in example()["questions"][:2]]
        assert roles["radio"][0] == "1: It answers something else, or nothing."
        assert all(roles["button"])
        assert "Turn 1 · Relevance: Why 2?" in roles["group"]
        focus = (
            "const e = document.activeElement; return [e.getAttribute('role'), e.closest('.ask').dataset.key]"
        )
        assert await tab.run(focus) == ["radiogroup", "1|courtesy"]


async def test_only_the_conversation_in_sight_is_built(tmp_path):
    talk = [m for turn in range(1, 41) for m in (
        {"role": "user", "turn": turn, "text": f"Question {turn}"},
        {"role": "assistant", "turn": turn, "text": f"- **Answer** {turn}\n" * 20},
    )]  # fmt: skip
    items = [
        {
            "id": f"i{n}",
            "conversation_id": f"c{n}",
            "about": {},
            "turns": list(range(1, 41)),
            "messages": talk,
        }
        for n in range(100)
    ]
    async with opened(tmp_path, example(items=items, questions=[RELEVANCE, OVERALL])) as tab:
        await tab.press("Enter", *"5" * 41, "Enter")
        assert await tab.run("return document.querySelectorAll('.round').length") == 40
        assert (await state(tab))[:2] == ["2 of 100", "Turn 1"]
        assert await tab.run("return fileText().split('\\n').length") == 42


async def test_a_better_reply_is_written_kept_undone_and_saved(tmp_path):
    task = example()
    task["items"][0]["digests"] = {"": "00aa", "1": "11aa", "2": "22aa", "3": "33aa"}
    async with opened(tmp_path, task) as tab:
        await tab.press("Enter", "w")
        await tab.write("Two trains: 07:32 and 08:02.")
        await tab.press("Enter")  # a reply has lines
        await tab.write("Both take bicycles.")
        await tab.press("Escape")
        assert (await state(tab))[1:] == ["Turn 1", "Relevance", None]
        wanted = {**RIGHTS, "item": "i01", "conversation_id": "c12", "turn": 1, "digest": "11aa",
                  "correction": "Two trains: 07:32 and 08:02.\nBoth take bicycles."}  # fmt: skip
        assert plain(json.loads(line) for line in [await tab.run("return fileText()")]) == [wanted]
        assert await tab.run("return openAsks(TASK.items[0]).length") == 7  # it is no answer to a question
        await tab.press("4", "1")
        await tab.reload()
        rows = plain(json.loads(line) for line in (await tab.run("return fileText()")).splitlines())
        assert [row.get("dimension") for row in rows] == ["relevance", "courtesy", None]
        assert rows[0]["digest"] == "11aa"
        assert rows[-1] == wanted
        await tab.run("save()")
        await saved(tmp_path)
        await tab.press("k", "k")
        assert "Two trains" in await tab.run("return document.querySelector('.better textarea').value")
        await tab.press("u", "u", "u")
        assert await tab.run("return fileText()") == ""
        assert (await state(tab))[:2] == ["1 of 3", "Turn 1"]
        text = (tmp_path / "R1.jsonl").read_text("utf-8")
        assert await tab.run(f"return {json.dumps(text.splitlines())}.every(takeLine)")
        assert "Both take bicycles." in await tab.run("return fileText()")
    (tmp_path / "other").mkdir()
    async with opened(tmp_path / "other") as tab:  # nothing is written of the whole, nor of pairs
        await tab.press("Enter", "j", "j", "j", "w")
        assert await tab.run("return document.querySelector('.better')") is None


async def test_a_better_reply_takes_a_skip_back(tmp_path):
    async with opened(tmp_path) as tab:
        await tab.press("Enter", "s")
        await tab.write("unclear")
        await tab.press("Enter", "p", "w")
        await tab.write("At nine.")
        await tab.press("Escape")
        rows = plain(json.loads(line) for line in (await tab.run("return fileText()")).splitlines())
        assert [(row.get("skipped"), row.get("correction")) for row in rows] == [(None, "At nine.")]


async def test_the_end_says_nothing_that_was_said_of_a_conversation(tmp_path):
    task = example(items=[{"id": "i02", "about": {}, "turns": [1], "messages": BREAD}])
    async with opened(tmp_path, task) as tab:
        await tab.press("Enter", "Enter")
        assert "3 left here" in await tab.run("return toast.textContent")
        await tab.press("4", "1", "5", "Enter")
        assert await tab.run("return document.querySelector('h1').textContent") == "All done, thank you"
        assert await tab.run("return toast.textContent") == ""


async def test_the_end_follows_what_is_done_in_another_tab(tmp_path):
    task = example(items=[{"id": "i02", "about": {}, "turns": [1], "messages": BREAD}])
    async with opened(tmp_path, task) as one:
        await one.press("Enter", "4", "1", "5", "Enter")
        other = await one.browser.tab()
        await other.open(tmp_path / "R1.html")
        await other.press("u")
        await one.until("document.querySelector('h1').textContent === 'Nearly done'")


@pytest.mark.long
@pytest.mark.parametrize(
    ("place", "shows"),
    [
        ({"screen": "item", "item": "i99", "key": "1|relevance", "language": "en"}, "h1"),
        ({"screen": "item", "item": "i01", "key": "9|charm", "language": "tlh"}, ".ask.here"),
        ({"screen": "nowhere", "language": None}, "h1"),
        ("i01", "h1"),
        (None, "h1"),
    ],
)
async def test_a_stored_place_that_names_nothing_leaves_no_page_blank(tmp_path, place, shows):
    async with opened(tmp_path) as tab:
        await tab.run(f"localStorage.setItem(PREFIX + 'place', {json.dumps(json.dumps(place))})")
        await tab.run("localStorage.setItem(PREFIX + 'steps', '[{\"item\": \"i99\"}]')")
        for _ in range(2):
            await tab.reload()
            assert await tab.run(f"return !!document.querySelector('{shows}')")
        await tab.press("u")
        assert await tab.run("return toast.textContent") == "Nothing to undo."
        await tab.press("Enter", "4")
        assert await tab.run("return rowsOf(TASK.items[0]).length") == 1
