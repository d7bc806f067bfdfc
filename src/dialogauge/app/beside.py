"""What the settings name beside the conversations: a field map, and people's ratings."""

from __future__ import annotations

from dialogauge import data  # by attribute: each of its modules is loaded when it is needed
from dialogauge.app.option_groups import DataOptions, RatingOptions
from dialogauge.core.errors import UsageError
from dialogauge.core.files import shown_path


def field_map(options: RatingOptions) -> data.FieldMap | None:
    """Read the field map that the settings name; None where they name none."""
    return None if options.map_file is None else data.read_field_map(options.map_file)


def ratings_of_file(options: RatingOptions, mapping: data.FieldMap | None) -> data.RatingTable | None:
    """Read people's ratings; None where the settings name no file of them.

    Raises UsageError where they are choices between two.
    """
    if options.ratings_file is None:
        return None
    table = data.read_ratings(options.ratings_file, mapping=mapping)
    if table.pairs and not table.ratings:
        raise choices_alone(shown_path(options.ratings_file))
    return table


def choices_alone(file: str) -> UsageError:
    """Return the error of choices between two where ratings are needed."""
    msg = f"{file} has choices between two (a, b, winner), and no rating of either"
    hint = "choices are held against choices: dialogauge agreement JUDGE.csv --ratings CHOICES.csv"
    return UsageError(msg, hint=hint)


def refuse_one_pipe_twice(options: DataOptions) -> None:
    """Raise UsageError where one pipe is given for two things: what came for one is gone for the other."""
    pipes = {data.pipe_of(name) for name in options.inputs} - {None}
    for option, name in (("--ratings", options.ratings_file), ("--map", options.map_file)):
        pipe = None if name is None else data.pipe_of(name)
        if pipe in pipes:
            msg = f"{option} {shown_path(name or '')} is a pipe that is read for something else too"
            raise UsageError(msg, hint="it can be read but once: save it to a file")
        pipes |= {pipe} - {None}
