"""Tasks for the rating page: conversations of our own about small everyday matters."""

RELEVANCE = {
    "name": "relevance", "level": "turn", "title": "Relevance",
    "text": "Does the reply answer what the user asked, with what was known then?",
    "low": 1, "high": 5,
    "anchors": {
        "1": "It answers something else, or nothing.",
        "3": "It answers in part; something that was asked is missing.",
        "5": "It answers all that was asked, and nothing else.",
    },
    "reason_for": [1, 2, 3],
    "reasons": ["misses the question", "forgets what was said", "invents something"],
}  # fmt: skip
COURTESY = {
    "name": "courtesy", "level": "turn", "title": "Courtesy", "text": "Does it meet the user with respect?",
    "low": 0, "high": 1, "anchors": {"0": "No", "1": "Yes"}, "reason_for": [], "reasons": [],
}  # fmt: skip
OVERALL = {
    "name": "return", "level": "conversation", "title": "Coming back",
    "text": "Would the user come back to this assistant?",
    "low": 1, "high": 5, "anchors": {"1": "Never again", "5": "With pleasure"},
    "reason_for": [1, 2], "reasons": [],
}  # fmt: skip
PREFERENCE = {
    "name": "preference", "level": "pair", "title": "Preference",
    "text": "Which of the two serves the user better, all in all?",
}  # fmt: skip


def said(turn, user, reply, *steps):
    """One turn: what the user said, the tool steps, the reply."""
    return [
        {"role": "user", "turn": turn, "text": user},
        *({"turn": turn, **step} for step in steps),
        {"role": "assistant", "turn": turn, "text": reply},
    ]


LOOK_UP = (
    {"role": "assistant", "text": "", "calls": [
        {"name": "find_trains", "arguments": '{"from": "Bern", "to": "Chur", "day": "Saturday"}'}]},
    {"role": "tool", "name": "find_trains", "text":
        '[{"leaves": "07:32", "arrives": "10:05", "change": "Zürich"},'
        ' {"leaves": "08:02", "arrives": "10:37", "change": "Zürich"}]'},
)  # fmt: skip
TRIP = [
    {"role": "system", "turn": 0, "text": "You help travellers. Look trains up; never guess times."},
    *said(1, "Hi! I need to be in Chur on Saturday by eleven, coming from Bern. With a bicycle.",
          "There are two good trains on Saturday:\n\n| leaves | arrives | change |\n|---|---|---|\n"
          "| 07:32 | **10:05** | Zürich |\n| 08:02 | **10:37** | Zürich |\n\nBoth take bicycles. "
          "Shall I reserve a place for yours?", *LOOK_UP),
    *said(2, "The later one please. How much is it for two with the bicycle?",
          "The 07:32 is a fine choice. Two tickets cost 126 francs."),
    *said(3, "I said the later one, and there is still the bicycle.",
          "You are right, sorry: the **08:02**, arriving 10:37. Two tickets are 126 francs and the bicycle "
          "is 14 francs, so 140 francs together. Shall I book the place too?"),
]  # fmt: skip
BREAD = [
    *said(1, "My bread stays flat. Flour, water, salt, yeast, one hour on the table.",
          "One hour is short in a cool kitchen. Let it rise until it has doubled:\n\n"
          "1. cover it and leave it for two to three hours\n2. fold it once in between\n"
          "3. bake when a finger's dent fills slowly"),
    *said(2, "And the oven?", "Hot: 240 °C for ten minutes, then 200 °C for thirty."),
]  # fmt: skip
ASK = [{"role": "user", "turn": 1, "text": "Where can my parents see the old town without many stairs?"}]
LEFT = [{"role": "assistant", "turn": 1, "text":
    "Take **tram 6** to the Market and stay on the upper terrace: it is flat, has benches, and the view is "
    "the best in town. The cathedral has a lift on its north side."}]  # fmt: skip
RIGHT = [{"role": "assistant", "turn": 1, "text":
    "The old town is lovely! There are many sights. You could climb the tower (254 steps) or walk down to "
    "the river. I hope your parents enjoy it!"}]  # fmt: skip

INTRODUCTION = (
    "Read each conversation from its beginning. Rate every reply by what was known when it was written; "
    "what the user says afterwards shows how it served them. Then answer the questions on the whole."
)


def example(**changes):
    """Return a task of two conversations and a pair, with changes."""
    task = {
        "plan": "4f1c0a", "rater": "R1", "language": "en", "title": "Rating conversations of a service",
        "introduction": INTRODUCTION, "questions": [RELEVANCE, COURTESY, OVERALL, PREFERENCE],
        "items": [
            {"id": "i01", "conversation_id": "c12", "about": {"scenario": "Planning a weekend trip"},
             "turns": [1, 2, 3], "messages": TRIP},
            {"id": "i02", "conversation_id": None, "about": {}, "turns": [2], "messages": BREAD},
            {"id": "p03", "conversation_id": "c30", "about": {"scenario": "A city with one's parents"},
             "messages": ASK, "left": LEFT, "right": RIGHT},
        ],
    }  # fmt: skip
    return {**task, **changes}
