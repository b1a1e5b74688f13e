"""The public names of each package; a change here is a change for users."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import empathylab

PACKAGES = sorted(
    module.name for module in pkgutil.iter_modules(empathylab.__path__) if module.ispkg
)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_what_is_public_sorted_and_existing(package: str) -> None:
    module = importlib.import_module(f"empathylab.{package}")
    assert module.__doc__, f"{package} needs one line that says what it is for"
    names = list(module.__all__)
    assert names == sorted(names, key=_ruff_order), "keep __all__ sorted"
    for name in names:
        assert hasattr(module, name)


def _ruff_order(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest, as ruff sorts them."""
    if name.isupper():
        return (0, name)
    return (1 if name[0].isupper() else 2, name)


def test_the_names_that_others_build_on_are_there() -> None:
    expected = {
        "judging": {"Judging", "plan_comparing", "plan_judging", "study_instrument"},
        "models": {"Completion", "Message", "Model", "Parameters", "open_model"},
        "protocols": {"Appraisal", "Responding", "plan_appraisal", "plan_responding"},
        "report": {"collect", "render", "write_report"},
        "runs": {"Answered", "Interpreter", "Job", "Limits", "Plan", "Reading", "Request", "run"},
        "scales": {"Scale", "builtin_scale", "parse_answer", "score"},
        "situations": {"Situation", "SituationSet", "builtin_set"},
        "stats": {
            *(
                "alternative_annotator_test",
                "bradley_terry",
                "clmm",
                "compare_arms",
                "compare_raters",
            ),
            *("cronbach_alpha", "krippendorff_alpha", "lmm", "marginal_means"),
            *(
                "prediction_powered_mean",
                "scale_changes",
                "self_report_validity",
                "simulated_power",
            ),
        },
        "store": {"Lab", "responses_frame", "runs_frame"},
        "study": {"Block", "ParticipantPath", "Step", "Study", "read_study", "register_block"},
        "style": {
            *("distinctive_terms", "features", "predictability", "profiles", "read_lexicon"),
            *("recurrences", "repetition", "self_similarity", "tactic_table"),
        },
    }
    for package, names in expected.items():
        module = importlib.import_module(f"empathylab.{package}")
        assert names <= set(module.__all__), f"{package} lost {names - set(module.__all__)}"
