"""The price table and overriding it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from empathylab.errors import InputError
from empathylab.models import Price, Prices, Usage, install_prices


def test_cost_is_per_million_tokens() -> None:
    # 2,000 prompt tokens at $0.15 and 1,000 completion tokens at $0.60 per million.
    assert Price(0.15, 0.60).cost(Usage(2_000, 1_000)) == pytest.approx(0.0003 + 0.0006)


def test_models_on_ones_own_machine_are_free_and_unknown_ones_have_no_price() -> None:
    prices = Prices.load()
    for name in ("local/smollm2", "ollama/llama3.2", "vllm/x", "scripted/x"):
        assert prices.of(name) == Price(0.0, 0.0)
    assert prices.of("openai/some-model-of-tomorrow") is None
    assert prices.of("openai/gpt-4o-mini") is not None


def test_a_users_table_goes_over_the_built_in_one(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[prices]\n"openai/gpt-4o-mini" = { prompt = 9, completion = 8 }\n')
    prices = Prices.load(file)
    assert prices.of("openai/gpt-4o-mini") == Price(9.0, 8.0)
    assert prices.of("openai/gpt-4o") == Prices.load().of("openai/gpt-4o")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[prices", "not valid TOML"),
        ('[prices]\n"x/y" = 3', "needs numbers for 'prompt' and 'completion'"),
        ('[prices]\n"x/y" = { prompt = -1, completion = 0 }', "cannot be negative"),
        ('[prices]\n"x/y" = { prompt = nan, completion = 0 }', "must be a number"),
        ("prices = 3", "must be a table"),
    ],
)
def test_a_wrong_table_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=sentence):
        Prices.load(file)


def test_a_table_that_is_no_text_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read"):
        Prices.load(tmp_path / "prices.toml")


def test_a_missing_table_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read.*--prices"):
        Prices.load(tmp_path / "none.toml")


def test_every_model_that_the_readme_names_has_a_price() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\b(?:openai|anthropic|google|mistral|groq)/[\w.-]+", readme))
    assert named
    assert [name for name in named if Prices.load().of(name) is None] == []


def test_an_installed_table_is_used_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMPATHYLAB_CONFIG", str(tmp_path / "config"))
    file = tmp_path / "new.toml"
    file.write_text('as_of = "2027-01-01"\n[prices]\n"x/y" = { prompt = 1, completion = 2 }\n')
    install_prices(file)
    file.unlink()
    prices = Prices.load()
    assert (prices.of("x/y"), prices.as_of) == (Price(1.0, 2.0), "2027-01-01")
    assert prices.of("openai/gpt-4o-mini") is not None


def test_a_table_without_a_date_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMPATHYLAB_CONFIG", str(tmp_path / "config"))
    file = tmp_path / "new.toml"
    file.write_text('[prices]\n"x/y" = { prompt = 1, completion = 2 }\n')
    with pytest.raises(InputError, match="as_of"):
        install_prices(file)
    assert not (tmp_path / "config").exists()
