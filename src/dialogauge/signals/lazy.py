"""A value computed once, when it is first asked for; without the lock that Python 3.11 takes for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["lazy"]

T = TypeVar("T")


class lazy(Generic[T]):
    """Like `functools.cached_property`; two threads may compute the same value twice."""

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
