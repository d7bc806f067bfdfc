from dialogauge.text import counted


def test_a_count_of_one_stands_before_one_thing() -> None:
    assert [counted(n, "turn") for n in (0, 1, 2, 1200)] == ["0 turns", "1 turn", "2 turns", "1,200 turns"]
    assert [counted(n, "reply", "replies") for n in (1, 2)] == ["1 reply", "2 replies"]
