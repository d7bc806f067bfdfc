"""Values that are computed on first use and stored in the `__dict__` of the object they describe."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
V = TypeVar("V")


class lazy_property(Generic[T]):
    """Like `functools.cached_property`, without the lock that Python 3.11 takes.

    Two threads may compute the same value twice.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        """Take the method that computes the value."""
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> lazy_property[T] | T:
        """Compute the value and store it under the property's name, which hides the property."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


def cached_on_view(compute: Callable[[V], T]) -> Callable[[V], T]:
    """Store a function's result on its argument.

    An LRU cache would lose the beginning of a conversation with more messages than the cache has entries.
    """
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def cached(view: V) -> T:
        values = view.__dict__
        if name not in values:
            values[name] = compute(view)
        value: T = values[name]
        return value

    return cached
