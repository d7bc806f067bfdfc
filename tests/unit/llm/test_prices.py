from __future__ import annotations

import pytest

from dialogauge.core.errors import ConfigError
from dialogauge.llm import PriceTable

TABLE = """
[[model]]
name = "big"
input_per_million = 3
output_per_million = 15.0
cached_input_per_million = 0.3
currency = "EUR"

[[model]]
name = "local"
input_per_million = 0
output_per_million = 0
"""


def test_cost_is_tokens_times_price(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text(TABLE)
    table = PriceTable.load(path)
    # 1000 * 3 + 500 * 15 = 10,500 per million
    assert table.cost("big", 1000, 500) == pytest.approx(0.0105)
    # 600 * 3 + 400 * 0.3 + 0 = 1,920 per million
    assert table.cost("big", 1000, 0, cached=400) == pytest.approx(0.00192)
    assert table.cost("local", 1000, 500) == 0.0
    assert table.cost("local", 1000, 500, cached=1000) == 0.0
    assert table.currency == "EUR"


def test_an_unknown_price_is_none_not_nothing():
    assert PriceTable().cost("big", 1, 1) is None
    assert not PriceTable().knows("big")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"no \[\[model\]\]"),
        ("model = 3", r"no \[\[model\]\]"),
        ("[[model]]\ninput_per_million = 1", "has no name"),
        ('[[model]]\nname = "m"\ninput_per_million = 1', "'m': output_per_million must be a number"),
        ('[[model]]\nname = "m"\ninput_per_million = "1"\noutput_per_million = 1', "input_per_million"),
        ('[[model]]\nname = "m"\ninput_per_million = -1\noutput_per_million = 1', "-1"),
        (f'[[model]]\nname = "m"\ninput_per_million = 1{"0" * 400}\noutput_per_million = 1', "not more"),
        (f'[[model]]\nname = "m"\ninput_per_million = 1{"0" * 5000}', "digits"),
        ('[[model]]\nname = "m"\ninput_per_million = 1979-05-27', "date"),
        (2 * '[[model]]\nname = "m"\ninput_per_million = 1\noutput_per_million = 1\n', "has two prices"),
        (
            '[[model]]\nname = "m"\ninput_per_million = 1\noutput_per_million = 1\ncurrency = {a = 1}',
            "the currency is no text",
        ),
        ('[[model]]\nname = "m"\ninput_per_million = nan\noutput_per_million = 1', "nan"),
        ('[[model]]\nname = "m"\ninput_per_million = true\noutput_per_million = 1', "True"),
        ('[[model]]\nname = "m"\ninput = 1', "unknown key 'input'"),
        (
            TABLE.replace("output_per_million = 0", 'output_per_million = 0\ncurrency = "USD"'),
            "mixes currencies",
        ),
        ("not toml", "cannot be read"),
    ],
)
def test_a_faulty_table_names_file_and_fault(tmp_path, text, message):
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        PriceTable.load(path)
    assert "prices.toml" in str(caught.value)


def test_a_missing_table_is_said(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        PriceTable.load(tmp_path / "none.toml")
