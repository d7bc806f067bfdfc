"""Vectors of texts: over HTTP from what endpoints send, and by a model in a folder."""

from __future__ import annotations

import random

import pytest
from aiohttp import web

from dialogauge.core.errors import BudgetSpent, EndpointError, UsageError
from dialogauge.core.judgement import Usage
from dialogauge.llm.budget import Budget
from dialogauge.llm.embeddings import HttpEmbedder
from dialogauge.llm.folder_embeddings import FolderEmbedder
from dialogauge.llm.retry import RetrySettings, Timing
from tiny_encoder import build_tiny_encoder

QUICK = RetrySettings(max_retries=2, backoff_base=0.001, backoff_cap=0.002, attempt_deadline=5.0)


@pytest.fixture
async def serve():
    """Starts servers whose `/embeddings` answers with what a function makes of the body."""
    runners = []

    async def start(reply):
        asked = []

        async def embeddings(request):
            asked.append(await request.json())
            made = reply(asked)
            return made if isinstance(made, web.Response) else web.json_response(made)

        app = web.Application()
        app.router.add_post("/v1/embeddings", embeddings)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        runners.append(runner)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}/v1", asked

    yield start
    for runner in runners:
        await runner.cleanup()


def lengths(asked):
    """Embed a text as its length and a one; the entries come in reverse order."""
    data = [{"index": n, "embedding": [len(text), 1]} for n, text in enumerate(asked[-1]["input"])]
    return {"data": data[::-1], "usage": {"prompt_tokens": 7}}


def embedder(url, **options):
    return HttpEmbedder("e", url, retry=QUICK, timing=Timing(rng=random.Random(1)), **options)


async def test_vectors_come_in_the_order_of_the_texts_in_batches(serve):
    url, asked = await serve(lengths)
    one = embedder(url)
    vectors, usage = await one.embed(["a" * n for n in range(70)])
    assert vectors == [[max(n, 1), 1.0] for n in range(70)]  # an empty text is sent as a blank
    assert [len(body["input"]) for body in asked] == [64, 6]
    assert (usage.calls, usage.prompt_tokens) == (2, 14)
    assert one.describe() == {"kind": "embeddings", "model": "e", "base_url": url}
    assert await one.embed([]) == ([], Usage())
    await one.close()


async def test_what_may_pass_is_tried_again(serve):
    url, asked = await serve(lambda asked: web.Response(status=503) if len(asked) < 3 else lengths(asked))
    one = embedder(url)
    vectors, usage = await one.embed(["abc"])
    assert (vectors, len(asked), usage.calls) == ([[3.0, 1.0]], 3, 3)
    await one.close()


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (lambda asked: web.Response(status=401), "HTTP 401"),
        (lambda asked: web.Response(status=500), "HTTP 500"),
        (lambda asked: {"data": [{"index": 0, "embedding": [1]}]}, "gave 1 vectors of 2"),
        (lambda asked: {"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}, "vectors of unequal length"),
        (lambda asked: {"data": [{"embedding": ["x"]}, {"embedding": [None]}]}, "gave 0 vectors of 2"),
        (lambda asked: {"choices": []}, "gave 0 vectors of 2"),
        (lambda asked: web.Response(text="<html>"), "gave 0 vectors of 2"),
    ],
    ids=["key", "server", "fewer", "unequal", "no numbers", "a chat", "no JSON"],
)
async def test_an_endpoint_that_gives_no_vectors_ends_it(serve, reply, message):
    url, _ = await serve(reply)
    one = embedder(url)
    with pytest.raises(EndpointError, match=message):
        await one.embed(["a", "b"])
    await one.close()


async def test_calls_count_against_the_budget(serve):
    url, asked = await serve(lengths)
    one = embedder(url, budget=Budget(max_calls=1))
    await one.embed(["a"])
    with pytest.raises(BudgetSpent):
        await one.embed(["b"])
    assert len(asked) == 1
    await one.close()


@pytest.mark.torch
async def test_a_model_in_a_folder_averages_over_the_tokens(tmp_path):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = build_tiny_encoder(tmp_path / "m", ["a red kayak on the river", "the cat"])
    one = FolderEmbedder(str(folder), device="cpu")
    (alone,), usage = await one.embed(["the cat"])
    both, _ = await one.embed(["the cat", "a red kayak on the river"])
    assert both[0] == pytest.approx(alone, abs=1e-6)  # what is filled up does not count
    tokens = transformers.AutoTokenizer.from_pretrained(folder)("the cat", return_tensors="pt")
    with torch.inference_mode():
        states = transformers.AutoModel.from_pretrained(folder).eval()(**tokens).last_hidden_state[0]
    assert alone == pytest.approx(states.mean(0).tolist(), abs=1e-6)
    assert (usage.calls, one.pooling, one.longest) == (0, "mean", 512)
    before = one.describe()["digest"]
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 4}')
    first = FolderEmbedder(str(folder), device="cpu")
    assert (first.pooling, first.longest) == ("first", 4)
    ((vector,), _) = await first.embed(["the cat"])
    assert vector == pytest.approx(states[0].tolist(), abs=1e-6)
    assert first.describe()["digest"] != before
    for each in (one, first):
        await each.close()


def test_what_is_no_folder_of_a_model_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"there is no config\.json in it"):
        FolderEmbedder(str(tmp_path))
