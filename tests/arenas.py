"""Dialogues of agents, votes on them, and a model that compares them, for the tests of the arena."""

import json
import random

BOOKED = "AB123"
GOOD = ("The train leaves at 9:15 from platform 3.", "I booked it for you, the reference is AB123.")
BAD = ("Sorry, I cannot help.", "I don't know.")
ASKED = ("When does the train to Leeds leave?", "Please book it for me.")
STRENGTH = {"gpt": 1200, "mix": 1000, "tiny": 850}


def dialogues(path, share, *, count=12, **more):
    """A file in which so many dialogues go well."""
    rng = random.Random(path.name)
    with path.open("w", encoding="utf-8") as out:
        for number in range(count):
            replies = [f"{one} ({path.stem})" for one in (GOOD if rng.random() < share else BAD)]
            own = f"{ASKED[0]} I travel on day {number}, and this is my question."
            said = zip((own, ASKED[1]), replies, strict=True)
            messages = [
                {"role": role, "content": text}
                for pair in said
                for role, text in zip(("user", "assistant"), pair, strict=True)
            ]
            out.write(json.dumps({"id": f"d{number}", "messages": messages, **more}) + "\n")
    return path


def published(path, questions=40):
    """Votes as MT-Bench publishes them."""
    rng = random.Random(1)
    with path.open("w", encoding="utf-8") as out:
        for number in range(questions):
            for a, b in (("gpt", "mix"), ("mix", "tiny"), ("tiny", "gpt")):
                chance = 1 / (1 + 10 ** ((STRENGTH[b] - STRENGTH[a]) / 400))
                at = rng.random()
                winner = "tie" if at < 0.1 else "model_a" if at < 0.1 + 0.9 * chance else "model_b"
                said = [
                    [
                        {"role": "user", "content": "Q"},
                        {"role": "assistant", "content": "w" * rng.randint(3, 60)},
                    ]
                    for _ in range(2)
                ]
                row = {"question_id": number, "model_a": a, "model_b": b, "winner": winner}
                row |= {"judge": f"expert_{number % 7}", "conversation_a": said[0], "conversation_b": said[1]}
                out.write(json.dumps(row) + "\n")
    return path


def fair(body):
    """Prefers the dialogue with a booking, wherever it stands."""
    text = body["messages"][-1]["content"]
    a, b = (BOOKED in text.partition(f"<dialogue_{side}>")[2].partition("</dialogue_")[0] for side in "ab")
    return json.dumps({"note": "By the booking.", "winner": "tie" if a == b else "a" if a else "b"})


def at(stub):
    return ("--model", "stub-model", "--base-url", stub.url)
