"""A whole assignment: made by the command, rated in a real browser by keys, reloaded, saved and imported."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from browser import driven
from flows.rating_pages import task_of
from parsed_pages import needs_chromium

pytestmark = [pytest.mark.chromium, needs_chromium]


async def saved_file(folder):
    path, size = folder / "saved" / "R1.jsonl", -1
    for _ in range(200):
        before, size = size, path.stat().st_size if path.exists() else -1
        if 0 < before == size:
            return path
        await asyncio.sleep(0.05)
    raise AssertionError(list(folder.iterdir()))


async def rate_by_keys(folder, page):
    """Rate two conversations of two turns by the card, with a reload between them; return the saved file."""
    async with driven(folder) as browser:
        tab = await browser.tab()
        await tab.open(page)
        await tab.press("Enter")
        for number in range(2):
            for key in "445455":  # three dimensions of two turns
                await tab.press(key)
            await tab.press("5", "4", "0")  # coherence, task completion, and no repair: n/a
            if number == 0:
                await tab.press("Enter")
                await tab.until("document.querySelector('.where').textContent === '2 of 2'")
                await tab.reload()
        await tab.press("Enter")
        await tab.until("document.querySelector('h1')?.textContent === 'All done, thank you'")
        await tab.press("Enter")
        return await saved_file(folder)


def test_a_page_is_rated_by_keys_reloaded_saved_and_imported(dialogauge, log, talk, tmp_path):
    file = log(*(talk(name, "It opens at nine.", "It is free.", candidate="m-1") for name in "ab"))
    done = dialogauge("annotate", "make", file, "--raters", 1, "--rubric", "card", "--blind", "-o", "rating")
    assert done.code == 0, done.err
    page = Path("rating/pages/R1.html").resolve()
    order = [item["id"] for item in task_of(page)["items"]]
    browser = tmp_path / "browser"
    browser.mkdir()
    rows = asyncio.run(rate_by_keys(browser, page))
    done = dialogauge("annotate", "import", "rating", rows)
    assert (done.code, done.err) == (0, "")
    assert "16 ratings by 1 rater" in done.out
    assert "R1: 2 of 2 items done, complete" in done.out
    ratings = [json.loads(line) for line in Path("rating/ratings.jsonl").read_text().splitlines()]
    assert {row["conversation_id"] for row in ratings} == {"a", "b"}
    assert {row["candidate"] for row in ratings} == {"m-1"}
    first = [row for row in ratings if row["item"] == order[0]]
    by_target = {(row["turn"], row["dimension"]): row["score"] for row in first}
    assert by_target == {
        (1, "context_use"): 4,
        (1, "helpfulness"): 4,
        (1, "safety"): 5,
        (2, "context_use"): 4,
        (2, "helpfulness"): 5,
        (2, "safety"): 5,
        (None, "coherence"): 5,
        (None, "task_completion"): 4,
    }
    done = dialogauge("annotate", "status", "rating", "--json")
    (progress,) = done.json["raters"]
    assert (progress["done"], progress["left"]) == (2, 0)
    assert progress["seconds"] >= 0
