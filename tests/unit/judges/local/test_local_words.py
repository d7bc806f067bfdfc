from dialogauge.judges.local.scores import level_note


def test_turns_of_every_language_are_named_beside_their_count():
    assert "156 rated turns (134 English, 22 Chinese; the level is known for English)" in level_note(
        156, ["en"], {"en": 134, "zh": 22}
    )
    assert "156 rated turns (English)" in level_note(156, ["en"], {"en": 156})
    assert "1,413 rated turns (Chinese)" in level_note(1413, ["zh"])
