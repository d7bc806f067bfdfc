"""Values computed once, when they are first asked for, and kept with what they are values of."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
V = TypeVar("V")


class lazy(Generic[T]):
    """Like `functools.cached_property`, without the lock that Python 3.11 takes for it.

    Two threads may compute the same value twice.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        """Take the method that computes the value."""
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> lazy[T] | T:
        """Compute the value and put it in the instance's place of it."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


def once(read: Callable[[V], T]) -> Callable[[V], T]:
    """Keep what a function reads off an object with the object: the next to ask need not compute it.

    A cache of so many entries forgets the beginning of a conversation that is longer than it.
    """
    name = f"{read.__module__}.{read.__qualname__}"

    @wraps(read)
    def kept(view: V) -> T:
        place = view.__dict__
        if name not in place:
            place[name] = read(view)
        value: T = place[name]
        return value

    return kept
