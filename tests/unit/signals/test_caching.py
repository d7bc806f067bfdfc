from dataclasses import dataclass

from dialogauge.signals.caching import cached_on_view, lazy_property


@dataclass(frozen=True)
class View:
    text: str

    @lazy_property
    def length(self) -> int:
        """The length."""
        READ.append(self.text)
        return len(self.text)


READ: list[str] = []


@cached_on_view
def first(view: View) -> str:
    READ.append(view.text)
    return view.text[0]


@cached_on_view
def last(view: View) -> str:
    return view.text[-1]


def test_a_value_is_computed_when_first_asked_for_and_kept_with_its_object():
    READ.clear()
    view, other = View("ab"), View("ab")
    assert (view.length, view.length, other.length) == (2, 2, 2)
    assert READ == ["ab", "ab"]


def test_what_a_function_reads_off_an_object_is_read_once_each():
    READ.clear()
    views = [View(f"{n}x") for n in range(1000)]
    assert [first(v) for v in views] == [first(v) for v in views]
    assert len(READ) == 1000
    assert (first(views[3]), last(views[3])) == ("3", "x")
